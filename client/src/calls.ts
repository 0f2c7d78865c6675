// Everything that sounds or listens: the call, replies read aloud, dictation, push-to-talk.
import { effect } from '@preact/signals';
import { ask, SESSION_KEY } from './conversations.ts';
import { errorText } from './errors.ts';
import { Hold } from './hold.ts';
import { learnIdentity, refreshMe, reportOfLesson } from './people.ts';
import type { ServerSays } from './protocol.ts';
import { Reader } from './read-aloud.ts';
import { BrowserRecognition } from './recognition.ts';
import { dispatch, lesson, level, REPLY_SPEECH_KEY, sending, state, toast } from './store.ts';
import { S } from './strings.ts';
import { VoiceCall } from './voice.ts';

/** Everything that sounds or listens ends. */
export function silence(): void {
  voice().stop();
  recognition?.stop();
  reader().stop();
}

let only: VoiceCall | null = null;

/** The page's one call; made on first use because its <audio> element must exist. */
export function voice(): VoiceCall {
  only ??= new VoiceCall(document.querySelector<HTMLAudioElement>('#tutor-voice')!, {
    link: (link) => {
      if (link !== 'connected') {
        level.value = 0;
        sending.value = false;
        hold.released();
      }
      if (link === 'reconnecting') void learnIdentity();
      dispatch({ type: 'voiceLink', link });
    },
    heard: voiceSaid,
    failed: (problem, failure) => {
      dispatch({ type: 'voiceFailed', problem });
      if (failure !== undefined) void reportOfLesson(failure);
    },
  });
  return only;
}

let aloud: Reader | null = null;

/** The page's one reader of typed replies. */
export function reader(): Reader {
  aloud ??= new Reader(document.querySelector<HTMLAudioElement>('#reader')!, {
    reading: (on) => { if (on !== state.value.reading) dispatch({ type: 'reading', on }); },
    fellBack: () => toast(S.readAloudByBrowser),
    failed: () => toast(S.readAloudFailed),
  });
  return aloud;
}

let recognition: BrowserRecognition | null = null;

effect(() => {
  const held = state.value.lesson?.busy === true || state.value.reading;
  recognition?.hold(held);
});

/** The browser's own speech recognition in place of a call. Call inside the tap. */
export function dictate(): void {
  recognition ??= new BrowserRecognition({
    interim: (words) => dispatch({ type: 'dictated', words }),
    sentence: (words) => void ask(words),
    failed: (problem) => dispatch({ type: 'voiceFailed', problem }),
  });
  reader().stop();
  if (state.value.replySpeech) reader().unlock();
  dispatch({ type: 'dictating', on: true });
  toast(S.dictationNote);
  recognition.start();
}

function voiceSaid(message: ServerSays): void {
  switch (message.type) {
    case 'activity':
      level.value = message.sending ? message.level : 0;
      sending.value = message.sending;
      return;
    case 'notice':
      return toast(message.code === 'silent' ? S.micSilent : message.text);
    case 'error':
      return toast(message.text || errorText(message.code), 'error');
    case 'closed':
      return voiceClosed(message.reason, message.text);
    case 'turn':
      if (message.saved && lesson.value !== null) sessionStorage.setItem(SESSION_KEY, lesson.value.sessionId);
      break;
  }
  dispatch({ type: 'heard', message });
}

/** Reasons that a notice has already explained in more detail. */
const EXPLAINED = new Set(['style', 'live-unavailable']);

function voiceClosed(reason: string, text: string): void {
  if (state.value.toast === null || !EXPLAINED.has(reason)) toast(text || S.voiceEnded);
  if (reason === 'access' || reason === 'signed-out') void refreshMe();
}

/** Call inside the tap. */
export function tapMic(action: 'start' | 'stop' | 'recover' | 'none'): void {
  const current = lesson.value;
  if (current === null || action === 'none') return;
  if (action === 'stop') return stopVoice();
  reader().stop();
  voice().mute(!state.value.replySpeech);
  if (action === 'recover') return void voice().recover();
  void voice().start({
    sessionId: current.sessionId, topicId: current.grounded.topicId, title: current.grounded.topic,
    ...(current.style === null ? {} : { style: current.style }),
  });
}

/** A reply of the running call once more, at `rate` times its speed. */
export function replay(turnId: string, rate = 1): void {
  voice().send('client-message', { t: 'replay', d: { turnId, rate } });
}

function stopVoice(): void {
  voice().stop();
  recognition?.stop();
  dispatch({ type: 'dictating', on: false });
}

export function setReplySpeech(on: boolean): void {
  if (on) reader().unlock();
  else reader().stop();
  localStorage.setItem(REPLY_SPEECH_KEY, on ? 'on' : 'off');
  dispatch({ type: 'replySpeechSet', on });
  voice().mute(!on);
  voice().send('client-message', { t: 'reply-speech', d: { on } });
}

const hold = new Hold(
  () => state.value.voice.link === 'connected' && state.value.voice.features.includes('ptt') && document.querySelector('dialog[open]') === null,
  (down) => {
    voice().send('client-message', { t: 'ptt', d: { down } });
    voice().mute(down || !state.value.replySpeech);
    dispatch({ type: 'holding', on: down });
  },
);

const inField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('textarea, select, input:not([type=radio], [type=checkbox])'));

addEventListener('keydown', (event) => {
  if (event.code !== 'Space') return void hold.released();
  const plain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.isComposing;
  if (plain && !inField(event.target) && hold.pressed(event.repeat)) event.preventDefault();
});
addEventListener('keyup', (event) => { if (event.code === 'Space' && hold.released()) event.preventDefault(); });
addEventListener('blur', () => hold.released());
document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') hold.released(); });

// Everything that sounds or listens: the call, replies read aloud, dictation.
import { effect } from '@preact/signals';
import { isBluetooth } from './browser.ts';
import { ask, refresh, SESSION_KEY } from './conversations.ts';
import { whenAllowed } from './devices.ts';
import { errorText, failureText, isDenied } from './errors.ts';
import { learnIdentity, refreshMe, reportOfLesson } from './people.ts';
import { tellTabs } from './other-tabs.ts';
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

/** Refusals that lead nowhere else: the status line says all there is to say. */
const SAID_BY_STATUS = new Set(['resource-exhausted', 'invalid-argument']);
const HEADSET_KEY = 'pidjin.headsetTold';
let only: VoiceCall | null = null;

/** The page's one call; made on first use because its <audio> element must exist. */
export function voice(): VoiceCall {
  only ??= new VoiceCall(document.querySelector<HTMLAudioElement>('#tutor-voice')!, {
    link: (link) => {
      if (link !== 'connected') {
        level.value = 0;
        sending.value = false;
      }
      if (link === 'reconnecting') void learnIdentity();
      dispatch({ type: 'voiceLink', link });
      if (link === 'connected') hintAtHeadset(only?.microphone?.label ?? '');
    },
    asks: (on) => dispatch({ type: 'microphoneAsked', on }),
    heard: voiceSaid,
    failed: (problem, failure) => {
      const refused = problem === 'refused' && failure !== undefined;
      dispatch({ type: 'voiceFailed', problem: refused ? failureText(failure, new Date()) : problem });
      if (isDenied(problem)) void whenAllowed().then(() => dispatch({ type: 'microphoneAllowed' }));
      if (failure !== undefined && !(refused && SAID_BY_STATUS.has(failure.code))) void reportOfLesson(failure);
    },
  });
  return only;
}

/** A wireless microphone sounds dull and late; told once for each. */
function hintAtHeadset(label: string): void {
  if (!isBluetooth(label) || localStorage.getItem(HEADSET_KEY) === label) return;
  localStorage.setItem(HEADSET_KEY, label);
  toast(S.headsetHint);
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
      if (message.saved && lesson.value !== null) {
        sessionStorage.setItem(SESSION_KEY, lesson.value.sessionId);
        tellTabs({ type: 'said', sessionId: lesson.value.sessionId });
      }
      break;
  }
  dispatch({ type: 'heard', message });
}

/** Reasons that a notice has already explained in more detail. */
const EXPLAINED = new Set(['style', 'live-unavailable']);

function voiceClosed(reason: string, text: string): void {
  if (reason === 'session-closed') return void refresh().then((stays) => { if (stays) toast(text || S.voiceEnded); });
  if (state.value.toast === null || !EXPLAINED.has(reason)) toast(reason === 'access' ? S.accessChanged : text || S.voiceEnded);
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

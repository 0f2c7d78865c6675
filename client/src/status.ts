// The status line: state words to the exact texts. Pure.
import type { Family } from './browser.ts';
import { mayDictate, voiceProblemText } from './errors.ts';
import { voiceWord, type State } from './state.ts';
import { S } from './strings.ts';

export function statusText(state: State, family: Family = 'other', talkKey: string = S.keySpace): string {
  const { lesson, voice } = state;
  if (lesson === null) return S.statusNoTopic;
  if (voice.link === 'silenced') return S.statusSilenced;
  if (!state.online && (voice.link === 'off' || voice.link === 'reconnecting')) return S.statusOffline;
  if (voice.holding) return S.statusHolding(talkKey);
  if (voice.link === 'dictating' && state.reading) return S.statusSpeakingPaused;
  switch (voiceWord(voice)) {
    case 'connecting': return S.statusConnecting;
    case 'reconnecting': return S.statusReconnecting;
    case 'paused': return S.statusPaused;
    case 'speaking': return voice.mayInterrupt ? S.statusSpeaking : S.statusSpeakingPaused;
    case 'formulating': return S.statusFormulating;
    case 'listening': return lesson.busy ? S.statusThinking : S.statusListening;
    default:
      if (lesson.busy) return S.statusThinking;
      if (voice.link !== 'off' && voice.server !== 'closed') return S.statusOn;
      return voice.problem !== null ? voiceProblemText(voice.problem, family) : S.statusIdle;
  }
}

export type MicButton = { label: string; action: 'start' | 'stop' | 'recover' | 'none' };

export function micButton({ lesson, voice }: State): MicButton {
  if (lesson === null) return { label: S.micNoTopic, action: 'none' };
  if (voice.link === 'off') return { label: S.micStart, action: 'start' };
  if (voice.link === 'paused' || voice.link === 'silenced') return { label: S.micGoOn, action: 'recover' };
  return { label: S.micStop, action: 'stop' };
}

/** What stands under the status while the microphone is open: whether sound leaves this device. */
export function privacyText({ voice }: State, sending: boolean): string {
  if (voice.link === 'connecting') return voice.asking ? S.micAsking : '';
  if (voice.link === 'paused') return S.micIsOff;
  if (voice.link !== 'connected') return '';
  return sending ? S.sending : S.notSending;
}

/** What a screen other than the conversation says of the lesson that listens meanwhile; null when nothing listens. */
export function elsewhereText(state: State, sending: boolean): string | null {
  if (state.tab === 'chat' || state.lesson === null || state.voice.link === 'off') return null;
  return privacyText(state, sending) || statusText(state);
}

/** Whether to offer the browser's own speech recognition in place of the call that failed. */
export const offersDictation = ({ lesson, voice }: State, available: boolean): boolean =>
  available && lesson !== null && voice.link === 'off' && mayDictate(voice.problem);

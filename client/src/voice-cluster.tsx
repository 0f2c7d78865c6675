// The voice controls: microphone, what is going on, reply speech, agenda.
import { useEffect, useRef } from 'preact/hooks';
import { dictate, family, level, lesson, nameOf, sending, setReplySpeech, state, talkKey, tapMic } from './actions.ts';
import { AgendaButton } from './agenda-button.tsx';
import { Icon } from './icons.tsx';
import { interimWords } from './log.ts';
import { canRecognise } from './recognition.ts';
import { voiceWord } from './state.ts';
import { micButton, offersDictation, privacyText, statusText } from './status.ts';
import { S } from './strings.ts';

const CAN_RECOGNISE = canRecognise();

function MicButton() {
  const button = useRef<HTMLButtonElement>(null);
  const { label, action } = micButton(state.value);
  const { voice } = state.value;
  useEffect(() => level.subscribe((value) => button.current?.style.setProperty('--level', value.toFixed(2))), []);
  const on = voice.link !== 'off';
  return (
    <button ref={button} type="button" class="mic" title={label} aria-label={label} aria-disabled={action === 'none'}
      data-on={on} data-state={voiceWord(voice)} onClick={() => tapMic(action)}>
      <span class="ring" aria-hidden="true" />
      <Icon name={voice.link === 'paused' || voice.link === 'silenced' ? 'resume' : 'mic'} />
    </button>
  );
}

/** Not a live region: it changes with every word. */
function PrivacyLight() {
  const text = privacyText(state.value, sending.value);
  if (text === '') return null;
  return (
    <p class="light" data-on={sending.value}>{text}
      {state.value.voice.features.includes('ptt') && !state.value.voice.holding && <span class="hold-hint"> · {S.holdHint(nameOf(talkKey.value))}</span>}</p>
  );
}

/** Also without a topic: then it says what comes first. */
export function VoiceCluster() {
  const { replySpeech, voice } = state.value;
  const interim = voice.interim || (lesson.value === null ? '' : interimWords(lesson.value.log));
  const reply = replySpeech ? S.replyOn : S.replyOff;
  return (
    <section class="voice" aria-label={S.voice} data-on={voice.link !== 'off'}>
      <MicButton />
      <div class="status">
        <p class="status-line" role="status" data-problem={voice.link === 'off' && voice.problem !== null}>{statusText(state.value, family, nameOf(talkKey.value))}</p>
        {offersDictation(state.value, CAN_RECOGNISE) && <button type="button" class="text-button" onClick={dictate}>{S.dictate}</button>}
        {interim !== '' ? <p class="interim" dir="auto">{S.interim(interim)}</p> : <PrivacyLight />}
      </div>
      <button type="button" class="icon-button reply" title={reply} aria-label={reply} onClick={() => setReplySpeech(!replySpeech)}>
        <Icon name={replySpeech ? 'speaker' : 'speakerOff'} /><span class="reply-label" aria-hidden="true">{reply}</span>
      </button>
      <AgendaButton />
    </section>
  );
}

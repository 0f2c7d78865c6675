// On every screen but the conversation's own: that the lesson still listens, whether sound leaves, and the ways out.
import { chooseTab, sending, state, tapMic, toast } from './actions.ts';
import { IconButton } from './parts.tsx';
import { elsewhereText } from './status.ts';
import { S } from './strings.ts';

function stop(): void {
  // The bar goes away with its buttons: the page it stood on gets the keyboard.
  document.querySelector<HTMLElement>('.stage')!.focus({ preventScroll: true });
  tapMic('stop');
  toast(S.voiceOff);
}

/** Told once when it appears; the light beside it changes with every word and is not read out. */
export function LessonBar() {
  const text = elsewhereText(state.value, sending.value);
  return (
    <>
      <p class="visually-hidden" role="status">{text !== null && S.lessonRunsTold}</p>
      {text !== null && (
        <section class="lesson-bar" aria-label={S.lessonRuns}>
          <div class="lesson-bar-text"><b>{S.lessonRuns}</b><p class="light" data-on={sending.value}>{text}</p></div>
          <div class="lesson-bar-ways">
            <button type="button" class="button quiet small" onClick={() => chooseTab('chat')}>{S.backToLesson}</button>
            <IconButton icon="stop" label={S.micStop} class="stop" onClick={stop} />
          </div>
        </section>
      )}
    </>
  );
}

// The agenda beside the voice controls: what this conversation will cover and what is covered.
import { signal } from '@preact/signals';
import { agendaButton, NO_AGENDA, viewAgenda } from './agenda.ts';
import { lesson } from './actions.ts';
import { Icon } from './icons.tsx';
import { Dialog, IconButton } from './parts.tsx';
import { S } from './strings.ts';

const open = signal(false);

export function AgendaButton() {
  const agenda = lesson.value?.agenda;
  const view = viewAgenda(agenda ?? NO_AGENDA);
  const { label, disabled, complete } = agendaButton(agenda);
  return (
    <>
      <IconButton icon={complete ? 'check' : 'agenda'} label={label} disabled={disabled}
        class={complete ? 'agenda-complete' : ''} onClick={() => { open.value = true; }} />
      <Dialog title={S.agenda} open={open.value} onClose={() => { open.value = false; }} class="agenda">
        <p class="agenda-count">{view.header}</p>
        <div class="agenda-parts" tabIndex={0}>
          {view.parts.map(({ heading, points }) => (
            <section key={heading ?? ''}>
              {heading !== null && <h3>{heading}</h3>}
              <ul>
                {points.map((point) => (
                  <li key={point.title} data-covered={point.covered}>
                    <span class={`tick ${point.covered ? 'check_circle' : 'radio_button_unchecked'}`} role="img"
                      aria-label={point.covered ? S.covered : S.open}>{point.covered && <Icon name="check" />}</span>
                    <span dir="auto">{point.title}</span>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
        <div class="actions"><button type="button" class="button quiet" onClick={() => { open.value = false; }}>{S.close}</button></div>
      </Dialog>
    </>
  );
}

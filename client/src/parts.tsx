// Small parts that every screen uses.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';
import type { Style } from './state.ts';
import { S } from './strings.ts';

export const IconButton = ({ icon, label, onClick, disabled = false, class: extra = '' }: {
  icon: IconName; label: string; onClick: () => void; disabled?: boolean; class?: string;
}) => (
  <button type="button" class={`icon-button ${extra}`} title={label} aria-label={label} aria-disabled={disabled}
    onClick={() => { if (!disabled) onClick(); }}>
    <Icon name={icon} />
  </button>
);

/** `reading`: the dialog is there to be read, so it starts at its title and not at its first control.
    It opens and closes with `open`, before the next key is read; the `close` event comes late, and counts only
    where the browser closed it by itself. */
export function Dialog({ title, open, onClose, children, reading = false, class: extra = '' }: {
  title: string; open: boolean; onClose: () => void; children: ComponentChildren; reading?: boolean; class?: string;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    if (open && !box.current!.open) box.current!.showModal();
    if (!open && box.current!.open) box.current!.close();
  }, [open]);
  return (
    <dialog ref={box} class={extra} aria-labelledby={heading}
      onCancel={(event) => { if (event.target === box.current) { event.preventDefault(); onClose(); } }}
      onClose={(event) => { if (!event.currentTarget.open) onClose(); }}
      onClick={(event) => { if (event.target === box.current) onClose(); }}>
      {open && <div class="dialog-body"><h2 id={heading} {...(reading ? { tabIndex: -1, autofocus: true } : {})}>{title}</h2>{children}</div>}
    </dialog>
  );
}

const STYLES: readonly [Style, string][] = [
  ['socratic', S.socratic], ['conversational', S.conversational], ['lecture', S.lecture],
];

/** One of a few words, chosen by a radio group that looks like tabs. `quiet` where a heading already says the legend. */
export function Segments<T extends string>({ legend, options, value, onChoose, quiet = false }: {
  legend: string; options: readonly (readonly [T, string])[]; value: T; onChoose: (value: T) => void; quiet?: boolean;
}) {
  const name = useId();
  return (
    <fieldset class="styles">
      <legend class={quiet ? 'visually-hidden' : ''}>{legend}</legend>
      {options.map(([option, label]) => (
        <label key={option} class="segment">
          <input type="radio" name={name} checked={value === option} onChange={() => onChoose(option)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

export const StyleChips = ({ value, onChoose }: { value: Style; onChoose: (style: Style) => void }) =>
  <Segments legend={S.style} options={STYLES} value={value} onChoose={onChoose} />;

export const Busy = ({ label }: { label: string }) => (
  <div class="busy"><span class="dots" aria-hidden="true"><i /><i /><i /></span><span>{label}</span></div>
);

/** A list that could not be refreshed says so instead of looking current. */
export const Stale = ({ when }: { when: boolean }) => <p class="stale" role="status">{when && S.stale}</p>;

export const Switch = ({ label, note, on, onChange }: { label: string; note: string; on: boolean; onChange: (on: boolean) => void }) => {
  const id = useId();
  return (
    <label class="switch">
      <span class="switch-text"><b>{label}</b><small id={id}>{note}</small></span>
      <input type="checkbox" role="switch" checked={on} aria-describedby={id} onChange={(event) => onChange(event.currentTarget.checked)} />
    </label>
  );
};

// Small parts that every screen uses.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
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

export function Dialog({ title, open, onClose, children, class: extra = '' }: {
  title: string; open: boolean; onClose: () => void; children: ComponentChildren; class?: string;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (open && !box.current!.open) box.current!.showModal();
    if (!open && box.current!.open) box.current!.close();
  }, [open]);
  return (
    <dialog ref={box} class={extra} aria-labelledby={heading} onClose={onClose}
      onClick={(event) => { if (event.target === box.current) onClose(); }}>
      {open && <div class="dialog-body"><h2 id={heading}>{title}</h2>{children}</div>}
    </dialog>
  );
}

const STYLES: readonly [Style, string][] = [
  ['socratic', S.socratic], ['conversational', S.conversational], ['lecture', S.lecture],
];

export const StyleChips = ({ value, onChoose }: { value: Style; onChoose: (style: Style) => void }) => {
  const name = useId();
  return (
    <fieldset class="styles">
      <legend>{S.style}</legend>
      {STYLES.map(([style, label]) => (
        <label key={style} class="segment">
          <input type="radio" name={name} checked={value === style} onChange={() => onChoose(style)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
};

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

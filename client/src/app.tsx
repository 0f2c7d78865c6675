// The shell: app bar, navigation, toasts, and which screen is shown.
import './app.css';
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { boot, chooseTab, dispatch, lesson, newTopic, preferStyle, signOut, state } from './actions.ts';
import { Admin } from './admin.tsx';
import { Chat } from './chat.tsx';
import { History } from './history.tsx';
import { Icon, Mark, type IconName } from './icons.tsx';
import { LessonBar } from './lesson-bar.tsx';
import { keepHistory } from './navigation.ts';
import { Dialog, IconButton, StyleChips } from './parts.tsx';
import { Picker } from './picker.tsx';
import { currentLink, Gate, Opening, SignIn } from './signin.tsx';
import { admitted, type Tab } from './state.ts';
import { SoundCheck } from './sound-check.tsx';
import { DIRECTION, LOCALE, S } from './strings.ts';

const menuOpen = signal(false);
const dialog = signal<'none' | 'sign-out' | 'style' | 'sound'>('none');

function More() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !box.current!.contains(event.target)) menuOpen.value = false;
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !menuOpen.value) return;
      menuOpen.value = false;
      box.current!.querySelector('button')!.focus();
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('keydown', escape);
    return () => { document.removeEventListener('pointerdown', outside); document.removeEventListener('keydown', escape); };
  }, []);
  // The menu goes away with its buttons: the one that opened it gets the keyboard back after the dialog.
  const pick = (next: 'sign-out' | 'style' | 'sound'): void => {
    box.current!.querySelector('button')!.focus();
    menuOpen.value = false;
    dialog.value = next;
  };
  return (
    <div class="more" ref={box}>
      <button type="button" class="icon-button" title={S.more} aria-label={S.more} aria-expanded={menuOpen.value}
        onClick={() => { menuOpen.value = !menuOpen.value; }}><Icon name="more" /></button>
      {menuOpen.value && (
        <div class="menu">
          <p class="menu-who">{state.value.me?.displayName ?? state.value.me?.email}</p>
          <button type="button" onClick={() => pick('style')}>{S.preferredStyle}</button>
          <button type="button" onClick={() => pick('sound')}>{S.soundCheck}</button>
          <button type="button" onClick={() => pick('sign-out')}>{S.signOutMenu}</button>
        </div>
      )}
      <SoundCheck open={dialog.value === 'sound'} onClose={() => { dialog.value = 'none'; }} />
      <Dialog title={S.signOutTitle} open={dialog.value === 'sign-out'} onClose={() => { dialog.value = 'none'; }}>
        <p>{state.value.identity?.mode === 'local' ? S.signOutLocal : S.signOutBody}</p>
        <div class="actions">
          <button type="button" class="button quiet" onClick={() => { dialog.value = 'none'; }}>{S.cancel}</button>
          <button type="button" class="button" onClick={() => { dialog.value = 'none'; void signOut(); }}>{S.signOut}</button>
        </div>
      </Dialog>
      <Dialog title={S.preferredStyleTitle} open={dialog.value === 'style'} onClose={() => { dialog.value = 'none'; }}>
        <p>{S.preferredStyleBody}</p>
        <StyleChips value={state.value.me?.preferredStyle ?? 'socratic'} onChoose={(style) => void preferStyle(style)} />
        <div class="actions"><button type="button" class="button quiet" onClick={() => { dialog.value = 'none'; }}>{S.close}</button></div>
      </Dialog>
    </div>
  );
}

const TABS: readonly [Tab, string, IconName][] = [
  ['chat', S.chat, 'chat'], ['history', S.history, 'history'], ['admin', S.admin, 'admin'],
];

function Navigation() {
  const { tab, me } = state.value;
  return (
    <nav class="nav" aria-label={S.navigation}>
      {TABS.filter(([name]) => name !== 'admin' || me?.role === 'admin').map(([name, label, icon]) => (
        <button key={name} type="button" aria-current={tab === name ? 'page' : undefined} onClick={() => chooseTab(name)}>
          <span class="pill"><Icon name={icon} /></span>{label}
        </button>
      ))}
    </nav>
  );
}

function Inside() {
  const { tab, identity } = state.value;
  return (
    <div class="shell">
      <header class="bar">
        <p class="brand"><Mark /><span>{S.brand}</span></p>
        {identity?.localTutor && <span class="badge local" title={S.localTutor}>{S.localTutorShort}</span>}
        <span class="spring" />
        <button type="button" class="button quiet small" onClick={newTopic}><Icon name="add" /><span>{S.newTopic}</span></button>
        <More />
      </header>
      <main class="stage" tabIndex={-1}>
        <LessonBar />
        {tab === 'chat' && (lesson.value === null ? <Picker /> : <Chat />)}
        {tab === 'history' && <History />}
        {tab === 'admin' && <Admin />}
      </main>
      <Navigation />
    </div>
  );
}

function Screen() {
  const { door, me } = state.value;
  if (door === 'opening' || door === 'unreachable') return <Opening unreachable={door === 'unreachable'} />;
  if (door === 'signin' || currentLink() !== null) return <SignIn />;
  return admitted(me) ? <Inside /> : <Gate />;
}

function Toast() {
  const { toast, alert, door, tab } = state.value;
  const over = door !== 'inside' ? 'door' : tab !== 'chat' ? 'page' : lesson.value === null ? 'picker' : 'talk';
  return (
    <div class="toasts" role="status" aria-live="polite" data-over={over}>
      {alert !== null && (
        <div key={alert.serial} class="alert">
          <p>{alert.text}</p><IconButton icon="close" label={S.dismiss} onClick={() => dispatch({ type: 'alertDismissed' })} />
        </div>
      )}
      {toast !== null && <p key={toast.serial} class="toast">{toast.text}</p>}
    </div>
  );
}

const App = () => <><Toast /><Screen /></>;

effect(() => { document.title = lesson.value === null ? S.brand : S.pageTitle(lesson.value.grounded.topic); });
document.documentElement.lang = LOCALE;
document.documentElement.dir = DIRECTION;
// Bookmarks never pin a version of the app.
if (/^\/web\/.+/.test(location.pathname)) history.replaceState(null, '', `/web/${location.hash}`);
keepHistory();
render(<App />, document.querySelector('#app')!);
void boot();

// Before the door: sign-in, one-time links, and the gate for those who wait or were declined.
import { useEffect, useState } from 'preact/hooks';
import { boot, enter, keepInvite, redeem, refreshMe, report, signOut, signUp, state, toast } from './actions.ts';
import { CallFailed, errorText } from './errors.ts';
import { GOOGLE_DOOR, googleProblem } from './google.ts';
import { GoogleMark, Icon, Mark } from './icons.tsx';
import { Busy } from './parts.tsx';
import { S } from './strings.ts';

const GATE_POLL_MS = 4_000;
const LINK_ROUTE = /^#\/(signin|invite)\/([\w.~-]+)$/;

type Link = { kind: 'signin' | 'invite'; code: string };

export function currentLink(): Link | null {
  const [, kind, code] = LINK_ROUTE.exec(location.hash) ?? [];
  return code === undefined ? null : { kind: kind === 'invite' ? 'invite' : 'signin', code };
}

const forgetLink = (): void => history.replaceState(null, '', location.pathname);

export function Opening({ unreachable }: { unreachable: boolean }) {
  return (
    <main class="door">
      <Mark />
      {unreachable
        ? <><p role="alert">{S.errorOffline}</p><button type="button" class="button" onClick={() => void boot()}>{S.retry}</button></>
        : <p role="status">{S.starting}</p>}
    </main>
  );
}

type Who = { displayName: string; email: string };

function Form({ send, note }: { send: (who: Who) => Promise<void>; note: string }) {
  const [displayName, setName] = useState('');
  const [email, setEmail] = useState('');
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    if (displayName.trim() === '') return setProblem(S.nameMissing);
    if (!/^\S+@\S+$/.test(email.trim())) return setProblem(S.emailMissing);
    setBusy(true);
    setProblem('');
    try {
      await send({ displayName: displayName.trim(), email: email.trim() });
    } catch (failure) {
      if (!(failure instanceof CallFailed)) throw failure;
      setProblem(errorText(failure.code, failure.message));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="card form" noValidate onSubmit={(event) => void submit(event)}>
      <label class="field">{S.name}
        <input name="name" autocomplete="name" maxLength={100} value={displayName} onInput={(e) => setName(e.currentTarget.value)} />
      </label>
      <label class="field">{S.email}
        <input name="email" type="email" autocomplete="email" inputMode="email" maxLength={200} value={email} onInput={(e) => setEmail(e.currentTarget.value)} />
      </label>
      {problem !== '' && <p class="problem" role="alert">{problem}</p>}
      <button class="button wide" aria-busy={busy}>{busy ? S.signingIn : S.continue}</button>
      <p class="hint">{note}</p>
    </form>
  );
}

/** An invite waits in this tab while its guest is at Google's. */
function GoogleDoor({ code }: { code: string }) {
  if (state.value.identity?.google !== true) return <p class="note"><Icon name="info" />{S.googleMissing}</p>;
  return <a class="button wide google" href={GOOGLE_DOOR} onClick={() => { if (code !== '') keepInvite(code); }}><GoogleMark />{S.googleContinue}</a>;
}

export function SignIn() {
  const [link, setLink] = useState(currentLink());
  const [problem, setProblem] = useState(googleProblem(location.hash));
  const { identity, awaits } = state.value;
  const local = identity?.mode === 'local';
  const invited = link?.kind === 'invite' && state.value.me === null;
  const use = async (code: string, who?: Who): Promise<void> => {
    setProblem('');
    try {
      await redeem(code, who);
    } catch (failure) {
      if (!(failure instanceof CallFailed)) throw failure;
      if (failure.code !== 'invalid-argument' && failure.code !== 'not-found') return setProblem(errorText(failure.code, failure.message));
      if (state.value.me === null) setProblem(S.linkUsed);
      else toast(S.linkUsed, 'error');
    }
    forgetLink();
    setLink(null);
    await enter();
  };
  useEffect(() => { if (googleProblem(location.hash) !== '') history.replaceState(null, '', '#/signin'); }, []);
  useEffect(() => { if (link !== null && !invited) void use(link.code); }, [link?.code, invited]);
  useEffect(() => {
    const changed = (): void => setLink(currentLink());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return (
    <main class="door signin">
      <div class="hero">
        <Mark />
        <h1>{S.brand}</h1>
        <p class="lead">{S.loginIntro}</p>
        {!local && <p class="lead">{S.loginGoogle}</p>}
        {identity?.localTutor && awaits === null && <p class="hint">{S.localTutor}</p>}
      </div>
      {awaits !== null && <div class="note ended"><Icon name="info" /><p><b>{S.endedTitle}</b> {local ? S.endedLocal : S.endedKept}</p></div>}
      {problem !== '' && <p class="problem" role="alert">{problem}</p>}
      {link !== null && !invited && (problem === ''
        ? <p role="status"><Busy label={S.signingIn} /></p>
        : <button type="button" class="button" onClick={() => void use(link.code)}>{S.retry}</button>)}
      {invited && !local && <p class="hint">{S.inviteNote}</p>}
      {!local && (link === null || invited) && <GoogleDoor code={invited ? link.code : ''} />}
      {link !== null && invited && local && <Form key="invite" note={S.inviteNote} send={(who) => use(link.code, who)} />}
      {link === null && local && awaits === null && <p class="hint">{S.emailKnown}</p>}
      {link === null && local && <Form key="sign-up" note={S.emailNote} send={async (who) => { await signUp(who); await enter(); }} />}
    </main>
  );
}

export function Gate() {
  const me = state.value.me!;
  const pending = me.role !== 'rejected';
  useEffect(() => {
    const poll = setInterval(() => { if (document.visibilityState === 'visible') void refreshMe().catch(report); }, GATE_POLL_MS);
    return () => clearInterval(poll);
  }, []);
  return (
    <main class="door gate">
      <div class="card gate-card">
        <span class={`gate-icon ${pending ? '' : 'declined'}`}><Icon name={pending ? 'wait' : 'alert'} /></span>
        <h1>{pending ? S.pendingTitle : S.rejectedTitle}</h1>
        <p>{pending ? S.pendingBody : S.rejectedBody}</p>
        {pending && <Busy label={S.signedInAs(me.email)} />}
        {!pending && <p class="hint">{S.signedInAs(me.email)}</p>}
        <button type="button" class="button quiet" onClick={() => void signOut()}>{S.signOut}</button>
      </div>
    </main>
  );
}

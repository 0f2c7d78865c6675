// Who is here: the way in and out, and what a refusal means for it.
import { call, clockAheadMs, mayBeSignedIn, read } from './api.ts';
import { silence } from './calls.ts';
import { span } from './clock.ts';
import { leave, refresh, resume, SESSION_KEY } from './conversations.ts';
import { CallFailed, failureText } from './errors.ts';
import { onTold, tellTabs } from './other-tabs.ts';
import { admitted, type Identity, type Me } from './state.ts';
import { dispatch, forgetDraft, lesson, state, toast } from './store.ts';
import { S } from './strings.ts';

/** Shows a refusal in plain words; a lost identity leads to the sign-in page, which says so, a lost role to the gate. */
export async function report(failure: unknown): Promise<void> {
  if (!(failure instanceof CallFailed)) throw failure;
  if (failure.code === 'unauthenticated') return signInExpired();
  toast(failureText(failure, new Date()), 'error');
  if (failure.code === 'permission-denied') await refreshMe();
}

/** The same for the conversation on the page, which is left when it is there no more. */
export async function reportOfLesson(failure: unknown): Promise<void> {
  const gone = failure instanceof CallFailed
    && (failure.reason === 'deleted' || (failure.code === 'not-found' && lesson.value?.persisted === true));
  if (!gone) return report(failure);
  leave();
  toast(S.deletedElsewhere, 'error');
}

/** Nobody is signed in any more, by no choice of theirs: what they were doing waits for them. */
function signInExpired(): void {
  silence();
  dispatch({ type: 'signInExpired' });
}

export async function refreshMe(): Promise<void> {
  if (!mayBeSignedIn()) return signInExpired();
  try {
    const me = await read<Me>('me');
    if (!admitted(me)) silence();
    dispatch({ type: 'signedIn', me });
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    if (failure.code === 'unauthenticated') signInExpired();
    else dispatch({ type: 'serverUnreachable' });
  }
}

const INVITE_KEY = 'pidjin.invite';

/** For the way back from a sign-in that leaves this page. */
export const keepInvite = (code: string): void => sessionStorage.setItem(INVITE_KEY, code);

async function useKeptInvite(): Promise<void> {
  const code = sessionStorage.getItem(INVITE_KEY);
  if (code === null || state.value.me === null) return;
  sessionStorage.removeItem(INVITE_KEY);
  if (state.value.me.role !== 'pending') return;
  try {
    await redeem(code);
  } catch (failure) {
    if (!(failure instanceof CallFailed)) throw failure;
    return toast(S.linkUsed, 'error');
  }
  await refreshMe();
}

/** After a sign-in: back to the conversation that was on this page, if it is theirs. */
export async function enter(): Promise<void> {
  await refreshMe();
  await useKeptInvite();
  if (admitted(state.value.me)) tellTabs({ type: 'signed-in' });
  const kept = sessionStorage.getItem(SESSION_KEY);
  if (kept !== null && lesson.value === null && admitted(state.value.me)) await resume(kept, true);
}

export async function boot(): Promise<void> {
  if (!await learnIdentity()) return dispatch({ type: 'serverUnreachable' });
  await enter();
  if (clockAheadMs === null) return;
  const { count, unit } = span(clockAheadMs);
  toast(S.clockWrong(count, unit, clockAheadMs > 0));
}

/** What this server is; a server of another version than the page asks for a reload. False when out of reach. */
export async function learnIdentity(): Promise<boolean> {
  try {
    dispatch({ type: 'identityLearnt', identity: await read<Identity>('identity') });
    return true;
  } catch (failure) {
    if (failure instanceof CallFailed) return false;
    throw failure;
  }
}

onTold((told) => {
  const { me, door } = state.value;
  if (told.type === 'signed-in' && me === null && door === 'signin') void enter();
  if (told.type === 'signed-out' && me !== null) leaveBrowser();
  if (told.type === 'said' && told.sessionId === lesson.value?.sessionId) void refresh();
  if (told.type === 'deleted' && told.sessionId === lesson.value?.sessionId) {
    leave();
    toast(S.deletedElsewhere);
  }
});

function leaveBrowser(): void {
  silence();
  sessionStorage.removeItem(SESSION_KEY);
  forgetDraft();
  dispatch({ type: 'signedOut' });
}

/** Raises CallFailed. */
export const signUp = (who: { displayName: string; email: string }): Promise<object> => call('signUp', who);

/** Uses up a sign-in link, or an invite with the name and e-mail of whom it let in. Raises CallFailed. */
export const redeem = (code: string, who: { displayName?: string; email?: string } = {}): Promise<object> =>
  call('redeemLink', { code, ...who });

export async function signOut(): Promise<void> {
  silence();
  try {
    await call('signOut');
    leaveBrowser();
    tellTabs({ type: 'signed-out' });
  } catch (failure) {
    await report(failure);
  }
}

/** A network that has just come back may need a moment before it carries anything. */
const LOOK_AFTER_MS = [0, 1_000, 3_000, 8_000];

async function reached(): Promise<boolean> {
  if (state.value.door !== 'unreachable') return learnIdentity();
  await boot();
  return state.value.door as string !== 'unreachable';
}

/** Asks for the server until it answers, a few times. */
async function lookForServer(): Promise<void> {
  for (const ms of LOOK_AFTER_MS) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    if (await reached()) return;
  }
}

addEventListener('online', () => {
  dispatch({ type: 'onlineChanged', online: true });
  void lookForServer();
});
addEventListener('offline', () => dispatch({ type: 'onlineChanged', online: false }));
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible') return;
  void lookForServer();
  void refresh();
});

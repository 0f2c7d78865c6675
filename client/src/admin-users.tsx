// Who may come in: approvals, users, invite links.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { report, state, toast } from './actions.ts';
import { call, read } from './api.ts';
import { Icon } from './icons.tsx';
import { useLive } from './live.ts';
import { IconButton, Stale } from './parts.tsx';
import type { Role } from './state.ts';
import { S } from './strings.ts';
import { whoOf } from './usage.ts';
import { when } from './when.ts';

type User = { uid: string; email: string; displayName?: string; role: Role; createdAt?: string };

const EVERY_MS = 5_000;
const users = signal<User[] | null>(null);
/** The last link that was made, and whom it is for. */
const made = signal<{ label: string; url: string } | null>(null);

const load = async (): Promise<void> => { users.value = (await read<{ users: User[] }>('admin/users?limit=100')).users; };

async function act(operation: 'approveUser' | 'rejectUser' | 'revokeUser', uid: string): Promise<void> {
  try {
    await call(operation, { uid });
    await load();
  } catch (failure) {
    await report(failure);
  }
}

const urlOf = (kind: 'invite' | 'signin', code: string): string => new URL(`/web/#/${kind}/${code}`, location.origin).href;

async function mint(): Promise<void> {
  try {
    const { code } = await call<{ code: string }>('mintInvite');
    made.value = { label: S.inviteMade, url: urlOf('invite', code) };
  } catch (failure) {
    await report(failure);
  }
}

/** A way back in for somebody whose browser has forgotten them. */
async function mintSignIn(user: User): Promise<void> {
  try {
    const { code } = await call<{ code: string }>('mintSignInLink', { uid: user.uid });
    made.value = { label: S.signInLinkMade(whoOf(user)), url: urlOf('signin', code) };
  } catch (failure) {
    await report(failure);
  }
}

async function copy(): Promise<void> {
  await navigator.clipboard.writeText(made.value?.url ?? '');
  toast(S.copied);
}

function Row({ user }: { user: User }) {
  const self = user.uid === state.value.me?.uid;
  const button = (label: string, operation: Parameters<typeof act>[0], tone = 'quiet') => (
    <button type="button" class={`button small ${tone}`} aria-label={`${label} ${whoOf(user)}`}
      onClick={() => void act(operation, user.uid)}>{label}</button>
  );
  return (
    <li class="row">
      <div class="row-text">
        <h3 dir="auto">{whoOf(user)}</h3>
        <p class="row-meta">
          {user.role === 'admin' && <span class="badge">{S.adminRole}</span>}
          {self && <span class="badge">{S.you}</span>}
          {user.displayName && <span>{user.email}</span>}{user.createdAt !== undefined && <span>{S.joined(when(user.createdAt, new Date()))}</span>}
        </p>
      </div>
      <div class="row-actions">
        {user.role !== 'admin' && user.role !== 'rejected' && state.value.identity?.mode === 'local'
          && <IconButton icon="link" label={S.signInLink(whoOf(user))} onClick={() => void mintSignIn(user)} />}
        {user.role !== 'approved' && user.role !== 'admin' && button(S.approve, 'approveUser', '')}
        {user.role === 'pending' && button(S.reject, 'rejectUser')}
        {user.role === 'approved' && button(S.revoke, 'revokeUser')}
      </div>
    </li>
  );
}

function Group({ title, members, none }: { title: string; members: User[]; none: string }) {
  return (
    <section class="group">
      <h2 class="group-title">{title}</h2>
      {members.length === 0 && <p class="empty">{none}</p>}
      <ul class="rows">{members.map((user) => <Row key={user.uid} user={user} />)}</ul>
    </section>
  );
}

export function Users() {
  const stale = useLive(load, EVERY_MS);
  const shown = useRef<HTMLInputElement>(null);
  const url = made.value?.url;
  useEffect(() => shown.current?.scrollIntoView({ block: 'nearest' }), [url]);
  const list = users.value ?? [];
  const pending = list.filter((user) => user.role === 'pending');
  const approved = list.filter((user) => user.role === 'approved' || user.role === 'admin');
  const rejected = list.filter((user) => user.role === 'rejected');
  return (
    <section class="group" aria-labelledby="admin-title">
      <header class="page-bar">
        <h1 id="admin-title">{S.users}</h1>
        <button type="button" class="button quiet" onClick={() => void mint()}><Icon name="link" />{S.invite}</button>
      </header>
      <Stale when={stale} />
      <div role="status">
        {made.value !== null && (
          <div class="card invite">
            <label class="field">{made.value.label}<input ref={shown} readOnly value={made.value.url} onFocus={(event) => event.currentTarget.select()} /></label>
            {navigator.clipboard !== undefined && <button type="button" class="button small" onClick={() => void copy()}>{S.copy}</button>}
          </div>
        )}
      </div>
      {users.value === null && !stale && <p class="hint" role="status">{S.loading}</p>}
      {users.value !== null && (
        <>
          <Group title={S.pendingUsers(pending.length)} members={pending} none={S.noPending} />
          <Group title={S.approvedUsers(approved.length)} members={approved} none={S.noApproved} />
          {rejected.length > 0 && <Group title={S.rejectedUsers(rejected.length)} members={rejected} none="" />}
        </>
      )}
    </section>
  );
}

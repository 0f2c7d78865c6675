// Who may come in: approvals, users, invite links.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { report, state, toast } from './actions.ts';
import { call, read } from './api.ts';
import { Icon } from './icons.tsx';
import type { Role } from './state.ts';
import { S } from './strings.ts';
import { when } from './when.ts';

type User = { uid: string; email: string; displayName?: string; role: Role; createdAt?: string };

const users = signal<User[] | null>(null);
const invite = signal('');

async function load(): Promise<void> {
  try {
    users.value = (await read<{ users: User[] }>('admin/users')).users;
  } catch (failure) {
    users.value ??= [];
    await report(failure);
  }
}

async function act(operation: 'approveUser' | 'rejectUser' | 'revokeUser', uid: string): Promise<void> {
  try {
    await call(operation, { uid });
    await load();
  } catch (failure) {
    await report(failure);
  }
}

async function mint(): Promise<void> {
  try {
    const { code } = await call<{ code: string }>('mintInvite');
    invite.value = new URL(`/web/#/invite/${code}`, location.origin).href;
  } catch (failure) {
    await report(failure);
  }
}

async function copy(): Promise<void> {
  await navigator.clipboard.writeText(invite.value);
  toast(S.copied);
}

function Row({ user }: { user: User }) {
  const self = user.uid === state.value.me?.uid;
  const button = (label: string, operation: Parameters<typeof act>[0], tone = 'quiet') => (
    <button type="button" class={`button small ${tone}`} aria-label={`${label} ${user.displayName ?? user.email}`}
      onClick={() => void act(operation, user.uid)}>{label}</button>
  );
  return (
    <li class="row">
      <div class="row-text">
        <h3 dir="auto">{user.displayName ?? user.email}</h3>
        <p class="row-meta">
          {user.role === 'admin' && <span class="badge">{S.adminRole}</span>}
          {self && <span class="badge">{S.you}</span>}
          {user.displayName !== undefined && <span>{user.email}</span>}{user.createdAt !== undefined && <span>{when(user.createdAt, new Date())}</span>}
        </p>
      </div>
      <div class="row-actions">
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
      <h2>{title}</h2>
      {members.length === 0 && <p class="empty">{none}</p>}
      <ul class="rows">{members.map((user) => <Row key={user.uid} user={user} />)}</ul>
    </section>
  );
}

export function Admin() {
  useEffect(() => { void load(); }, []);
  const list = users.value ?? [];
  const pending = list.filter((user) => user.role === 'pending');
  const approved = list.filter((user) => user.role === 'approved' || user.role === 'admin');
  const rejected = list.filter((user) => user.role === 'rejected');
  return (
    <section class="page" aria-labelledby="admin-title">
      <header class="page-bar">
        <h1 id="admin-title">{S.users}</h1>
        <button type="button" class="button quiet" onClick={() => void mint()}><Icon name="link" />{S.invite}</button>
      </header>
      {invite.value !== '' && (
        <div class="card invite">
          <label class="field">{S.inviteMade}<input readOnly value={invite.value} onFocus={(event) => event.currentTarget.select()} /></label>
          {navigator.clipboard !== undefined && <button type="button" class="button small" onClick={() => void copy()}>{S.copy}</button>}
        </div>
      )}
      <Group title={S.pendingUsers(pending.length)} members={pending} none={S.noPending} />
      <Group title={S.approvedUsers(approved.length)} members={approved} none={S.noApproved} />
      {rejected.length > 0 && <Group title={S.rejectedUsers(rejected.length)} members={rejected} none="" />}
    </section>
  );
}

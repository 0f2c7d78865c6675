import assert from 'node:assert/strict';
import test, { mock } from 'node:test';
import type { CallFailed } from '../src/errors.ts';
import { envelope } from '../src/protocol.ts';
import type { Link } from '../src/voice.ts';

// A page around the call: what a browser would do to it is done by hand.
const page = (name: string, value: unknown): void => { Object.defineProperty(globalThis, name, { value, configurable: true, writable: true }); };
const settle = async (): Promise<void> => { for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve)); };

class Track extends EventTarget {
  readyState = 'live';
  muted = false;
  stop(): void { this.readyState = 'ended'; }
  happens(what: 'mute' | 'unmute' | 'ended'): void {
    if (what === 'ended') this.readyState = 'ended';
    else this.muted = what === 'mute';
    this.dispatchEvent(new Event(what));
  }
}

class Channel {
  readyState = 'connecting';
  sent: { type: string; data: { t?: string; d?: { on?: boolean } } }[] = [];
  onopen = (): void => undefined;
  onclose = (): void => undefined;
  onmessage = (_: { data: string }): void => undefined;
  send(frame: string): void { this.sent.push(JSON.parse(frame)); }
}

class Connection {
  static all: Connection[] = [];
  connectionState = 'new';
  iceConnectionState = 'new';
  localDescription = { sdp: 'v=0', type: 'offer' };
  channel = new Channel();
  carried: unknown[] = [];
  bytes = 0;
  onconnectionstatechange = (): void => undefined;
  constructor() { Connection.all.push(this); }
  createDataChannel(): Channel { return this.channel; }
  addTrack(track: unknown): void { this.carried.push(track); }
  getSenders(): object[] { return [{ track: { kind: 'audio' }, replaceTrack: async (track: unknown) => { this.carried.push(track); } }]; }
  async setLocalDescription(): Promise<void> {}
  async setRemoteDescription(): Promise<void> {}
  async getStats(): Promise<Map<string, object>> { return new Map([['pair', { type: 'candidate-pair', bytesReceived: this.bytes }]]); }
  close(): void { this.connectionState = 'closed'; }
  moves(state: string): void { this.connectionState = this.iceConnectionState = state; this.onconnectionstatechange(); }
  opens(): void { this.moves('connected'); this.channel.readyState = 'open'; this.channel.onopen(); }
}

const windowEvents = new EventTarget();
const tracks: Track[] = [];
let answers = (): Response => Response.json({ sdp: 'v=0', type: 'answer', pc_id: 'p' });
const asked: string[] = [];
page('window', globalThis);
page('isSecureContext', true);
page('addEventListener', windowEvents.addEventListener.bind(windowEvents));
page('document', Object.assign(new EventTarget(), { cookie: '', visibilityState: 'visible' }));
page('localStorage', { getItem: () => null, removeItem: () => undefined });
page('RTCPeerConnection', Connection);
page('MediaStream', class {});
page('navigator', {
  mediaDevices: Object.assign(new EventTarget(), {
    getUserMedia: async () => {
      const track = new Track();
      tracks.push(track);
      return { getAudioTracks: () => [track] };
    },
  }),
});
page('fetch', async (path: string) => {
  asked.push(path);
  return path.endsWith('ice-servers') ? Response.json({ iceServers: [] }) : path.endsWith('offer') ? answers() : Response.json({});
});
const { VoiceCall } = await import('../src/voice.ts');

class Out extends EventTarget {
  srcObject: unknown = null;
  muted = false;
  paused = false;
  async play(): Promise<void> {}
}

type Told = { links: Link[]; problems: string[]; refusals: (string | undefined)[]; notices: string[] };

/** A call up to its open channel. */
async function calling(): Promise<{ call: InstanceType<typeof VoiceCall>; told: Told; connection: Connection; mic: Track }> {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  Connection.all = [];
  tracks.length = asked.length = 0;
  const told: Told = { links: [], problems: [], refusals: [], notices: [] };
  const call = new VoiceCall(new Out() as unknown as HTMLAudioElement, {
    link: (link) => told.links.push(link), asks: () => undefined,
    heard: (message) => { if (message.type === 'notice') told.notices.push(message.code); },
    failed: (problem: string, failure?: CallFailed) => { told.problems.push(problem); told.refusals.push(failure?.code); },
  });
  await call.start({ sessionId: 's', topicId: 't', title: 'Tides' });
  await settle();
  const connection = Connection.all[0]!;
  connection?.opens();
  return { call, told, connection, mic: tracks[0]! };
}

function over(call: InstanceType<typeof VoiceCall>): void {
  call.stop();
  mock.timers.runAll();
  mock.timers.reset();
}

const micWords = (connection: Connection): (boolean | undefined)[] =>
  connection.channel.sent.filter(({ data }) => data.t === 'mic').map(({ data }) => data.d?.on);

// @req VOICE-64
test('a phone call pauses the lesson, its end goes on by itself', async () => {
  const { call, told, connection, mic } = await calling();
  assert.deepEqual(told.links, ['connecting', 'connected']);
  mic.happens('mute');
  mic.happens('unmute');
  assert.deepEqual(told.links.slice(2), ['paused', 'connected']);
  assert.deepEqual(micWords(connection), [true, false, true]);
  over(call);
  assert.equal(told.links.at(-1), 'off');
  assert.equal(mic.readyState, 'ended', 'the light of the microphone goes out');
});

test('a microphone that a phone call ended comes back with one tap, on the same connection', async () => {
  const { call, told, connection, mic } = await calling();
  mic.happens('ended');
  assert.equal(told.links.at(-1), 'paused');
  await call.recover();
  await settle();
  assert.deepEqual([Connection.all.length, connection.carried], [1, [mic, tracks[1]]]);
  assert.equal(told.links.at(-1), 'connected');
  over(call);
});

test('another microphone is another track on the same connection', async () => {
  const { call, told, connection } = await calling();
  await call.changeMicrophone();
  await settle();
  assert.deepEqual([Connection.all.length, connection.carried.at(-1), tracks[0]!.readyState], [1, tracks[1], 'ended']);
  assert.equal(told.links.at(-1), 'connected');
  over(call);
});

// @req RTC-18
test('a lost network: a new connection with the same microphone, at once when the network is back', async () => {
  const { call, told, connection, mic } = await calling();
  connection.moves('disconnected');
  mock.timers.tick(999);
  assert.equal(told.links.at(-1), 'connected', 'it may heal by itself');
  mock.timers.tick(1);
  assert.equal(told.links.at(-1), 'reconnecting');
  windowEvents.dispatchEvent(new Event('online'));
  mock.timers.tick(0);
  await settle();
  assert.deepEqual([Connection.all.length, Connection.all[1]!.carried, connection.connectionState], [2, [mic], 'closed']);
  Connection.all[1]!.opens();
  assert.equal(told.links.at(-1), 'connected');
  over(call);
});

test('a server that has gone silent is noticed in three beats', async () => {
  const { call, told, connection } = await calling();
  for (let beat = 0; beat < 3; beat++) {
    connection.bytes += 10;
    mock.timers.tick(1_000);
    await settle();
  }
  assert.equal(told.links.at(-1), 'connected');
  for (let beat = 0; beat < 3; beat++) {
    mock.timers.tick(1_000);
    await settle();
  }
  assert.equal(told.links.at(-1), 'reconnecting');
  over(call);
});

test('a refusal ends the call at once; trouble that passes is tried again a few times', async () => {
  answers = () => Response.json({ error: { code: 'resource-exhausted', message: '' } }, { status: 429 });
  const refused = await calling();
  assert.deepEqual([refused.told.problems, refused.told.refusals, refused.call.running], [['refused'], ['resource-exhausted'], false]);
  mock.timers.reset();
  answers = () => Response.json({}, { status: 503 });
  const tried = await calling();
  for (let i = 0; i < 8; i++) {
    mock.timers.tick(8_000);
    await settle();
  }
  assert.deepEqual([tried.told.problems, Connection.all.length, tried.call.running], [['unreachable'], 5, false]);
  mock.timers.reset();
  answers = () => Response.json({ sdp: 'v=0', type: 'answer', pc_id: 'p' });
});

test('what the server says ends the call, and the page behind it hears why', async () => {
  const { call, told, connection } = await calling();
  connection.channel.onmessage({ data: envelope('server-message', { type: 'closed', reason: 'idle' }, '1') });
  assert.deepEqual([call.running, told.links.at(-1), told.problems], [false, 'off', []]);
  mock.timers.reset();
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { DeviceClaims } from '../src/device-claims.ts';
import { route } from '../src/loudspeakers.ts';
import { MicrophoneTrack } from '../src/microphone.ts';
import { sumOf } from '../src/peer.ts';
import { Speaker } from '../src/speaker.ts';

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const page = (name: string, value: unknown): void => { Object.defineProperty(globalThis, name, { value, configurable: true }); };
const kept = new Map<string, string>();
page('localStorage', {
  getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value), removeItem: (key: string) => kept.delete(key),
});

class Track extends EventTarget {
  readyState = 'live';
  muted = false;
  stop(): void { this.readyState = 'ended'; }
  /** What a phone call does to it. */
  happens(what: 'mute' | 'unmute' | 'ended'): void {
    if (what === 'ended') this.readyState = 'ended';
    else this.muted = what === 'mute';
    this.dispatchEvent(new Event(what));
  }
}

type Ask = (wanted: { audio: MediaTrackConstraints }) => Promise<object>;
const asking = (getUserMedia: Ask): void => page('navigator', { mediaDevices: { getUserMedia } });
const streamOf = (track: Track): object => ({ getAudioTracks: () => [track] });

function microphone(): { mic: MicrophoneTrack; told: string[] } {
  const told: string[] = [];
  return { mic: new MicrophoneTrack({ lost: () => told.push('lost'), back: () => told.push('back') }), told };
}

// @req RTC-18 VOICE-64
test('a phone call takes the microphone and gives it back, or ends it', async () => {
  const [first, second] = [new Track(), new Track()];
  const tracks = [first, second];
  asking(async () => streamOf(tracks.shift()!));
  const { mic, told } = microphone();
  await mic.open();
  assert.deepEqual([mic.hears, mic.dead], [true, false]);
  first.happens('mute');
  assert.deepEqual([mic.hears, mic.dead], [false, false]);
  first.happens('unmute');
  assert.equal(mic.hears, true);
  first.happens('ended');
  assert.deepEqual([mic.hears, mic.dead], [false, true]);
  assert.deepEqual(told, ['lost', 'back', 'lost']);
  await mic.open();
  assert.deepEqual([mic.track, mic.hears], [second, true]);
  first.happens('unmute');
  assert.equal(told.length, 3, 'a track that was replaced has nothing to say');
});

test('iOS lets a page capture once: the old track stops before a new one is asked for', async () => {
  const first = new Track();
  let before = '';
  asking(async () => streamOf(first));
  const { mic, told } = microphone();
  await mic.open();
  asking(async ({ audio }) => {
    before = first.readyState;
    assert.equal(audio.echoCancellation, true);
    return streamOf(new Track());
  });
  await mic.open();
  assert.equal(before, 'ended');
  mic.close();
  assert.deepEqual([mic.track, told], [null, []], 'our own stop is no loss');
});

test('allowed after the call was given up: the microphone does not stay open', async () => {
  const late = new Track();
  let allow = (_: object): void => undefined;
  asking(() => new Promise((resolve) => { allow = resolve; }));
  const { mic } = microphone();
  const opened = mic.open();
  mic.close();
  allow(streamOf(late));
  assert.equal(await opened, null);
  assert.deepEqual([late.readyState, mic.track], ['ended', null]);
});

class Element extends EventTarget {
  srcObject: unknown = null;
  muted = false;
  paused = true;
  plays = 0;
  refuse = '';
  play(): Promise<void> {
    this.plays += 1;
    this.paused = this.refuse !== '';
    return this.refuse === '' ? Promise.resolve() : Promise.reject(new DOMException('', this.refuse));
  }
}
page('MediaStream', class {});

// @req UI-57 CARD-12
test('sound that the browser holds back is told, and one tap frees it', async () => {
  const element = new Element();
  let held = 0;
  const speaker = new Speaker(element as unknown as HTMLAudioElement, () => { held += 1; });
  element.refuse = 'NotAllowedError';
  speaker.unlock();
  await settle();
  assert.deepEqual([held, speaker.held], [1, true]);
  element.refuse = '';
  speaker.play();
  await settle();
  assert.deepEqual([held, speaker.held], [1, false]);
  element.refuse = 'AbortError';
  speaker.play();
  await settle();
  assert.equal(held, 1, 'a newer sound took its place');
});

test('what pauses the tutor never starts it again, so the page does', async () => {
  const element = new Element();
  const speaker = new Speaker(element as unknown as HTMLAudioElement, () => undefined);
  element.dispatchEvent(new Event('pause'));
  assert.equal(element.plays, 0, 'no call, no sound');
  speaker.carry({} as MediaStreamTrack);
  await settle();
  element.paused = true;
  element.dispatchEvent(new Event('pause'));
  assert.equal(element.plays, 2);
  element.paused = true;
  speaker.resume();
  assert.equal(element.plays, 3);
  speaker.resume();
  assert.equal(element.plays, 3, 'it plays already');
  speaker.close();
  element.dispatchEvent(new Event('pause'));
  assert.equal(element.plays, 3);
});

test('a call claims the talking volume and an awake screen, and gives both back', async () => {
  const locks: { released: boolean; release(): Promise<void> }[] = [];
  const session = Object.assign(new EventTarget(), { type: 'auto', state: 'active' });
  page('navigator', {
    audioSession: session, mediaSession: { metadata: null },
    wakeLock: { request: async () => { const lock = { released: false, release: async () => { lock.released = true; } }; locks.push(lock); return lock; } },
  });
  page('MediaMetadata', class {});
  let freed = 0;
  const claims = new DeviceClaims(() => { freed += 1; });
  claims.claim();
  await settle();
  claims.name('Tides');
  assert.deepEqual([session.type, locks.length, navigator.mediaSession.metadata !== null], ['play-and-record', 1, true]);
  await claims.stayAwake();
  assert.equal(locks.length, 1, 'one lock is enough');
  locks[0]!.released = true;
  await claims.stayAwake();
  assert.equal(locks.length, 2, 'a hidden page loses it');
  session.state = 'interrupted';
  session.dispatchEvent(new Event('statechange'));
  assert.equal(freed, 0);
  session.state = 'active';
  session.dispatchEvent(new Event('statechange'));
  assert.equal(freed, 1);
  claims.release();
  session.dispatchEvent(new Event('statechange'));
  assert.deepEqual([session.type, locks[1]!.released, freed, navigator.mediaSession.metadata], ['auto', true, 1, null]);
  await claims.stayAwake();
  assert.equal(locks.length, 2, 'no call, no lock');
});

test('a device that has none of it is no trouble', async () => {
  page('navigator', {});
  const claims = new DeviceClaims(() => undefined);
  claims.claim();
  await settle();
  claims.name('Tides');
  claims.release();
});

test('a figure over all reports, or none at all', () => {
  const reports = [{ type: 'candidate-pair', bytesReceived: 3 }, { type: 'candidate-pair', bytesReceived: 4 }, { type: 'other', bytesReceived: 9 }];
  assert.equal(sumOf(reports, 'candidate-pair', 'bytesReceived'), 7);
  assert.equal(sumOf(reports, 'media-source', 'totalAudioEnergy'), null);
});

test('a chosen loudspeaker is used, one that is gone is forgotten, and phones are left alone', async () => {
  const used: string[] = [];
  kept.set('pidjin.loudspeaker', 'desk');
  await route({ setSinkId: async (id) => { used.push(id); } });
  assert.deepEqual(used, ['desk']);
  await route({ setSinkId: () => Promise.reject(new DOMException('', 'NotFoundError')) });
  assert.equal(kept.get('pidjin.loudspeaker'), undefined);
  await route({});
});

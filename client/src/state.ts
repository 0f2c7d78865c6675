// The one reducer of the page: events in the past tense in, the next state out. No I/O, no clock.
import { agendaOf, NO_AGENDA, type Agenda } from './agenda.ts';
import { isDenied } from './errors.ts';
import {
  caughtUp, deliveryFailed, learnerSaid, restored, sealed, systemSaid, turnSettled, tutorInterrupted, tutorSaid, typed, without,
  type Log, type StoredTurn,
} from './log.ts';
import type { ServerSays, VoiceState } from './protocol.ts';
import { S } from './strings.ts';

export type Style = 'socratic' | 'conversational' | 'lecture';
export type Role = 'pending' | 'approved' | 'admin' | 'rejected';
export type Tab = 'chat' | 'history' | 'admin';
export type Identity = { mode: 'local' | 'firebase'; localTutor: boolean; version: string; assistant?: boolean; google?: boolean };
export type Me = {
  uid: string; email: string; emailVerified?: boolean; displayName?: string; role: Role; preferredStyle?: Style;
};
export type Source = { title: string; url: string; publishedAt?: string | null };
export type Grounded = { topicId: string; topic: string; digest: string; sources: readonly Source[]; groundedAt?: string };
export type Grounding = 'topic' | 'news' | 'document';
export type StoredSession = {
  sessionId: string; topicIds: string[]; topicLabels?: Record<string, string>; style?: Style; endedAt?: string | null;
  grounded?: Record<string, { topic?: string; digest?: string; sources?: Source[]; groundedAt?: string }>;
  turns?: StoredTurn[]; revealState?: unknown;
};
export type TurnAnswer = { text: string; updatedRevealState: unknown };

export type Lesson = {
  readonly sessionId: string;
  readonly grounded: Grounded;
  readonly log: Log;
  readonly agenda: Agenda;
  /** Chosen for this conversation; null follows the preference. */
  readonly style: Style | null;
  readonly persisted: boolean;
  readonly busy: boolean;
  readonly openingFailed: boolean;
  readonly cost: { tokens: number; usd: number } | null;
};

/** `link` is what this browser knows of the call, `server` the last state word of the server. */
export type Voice = {
  readonly link: 'off' | 'connecting' | 'connected' | 'reconnecting' | 'paused' | 'silenced' | 'dictating';
  readonly server: VoiceState;
  readonly mayInterrupt: boolean;
  readonly learnerSpeaking: boolean;
  /** What the server of this call can do beyond the basics, e.g. `ptt`. */
  readonly features: readonly string[];
  /** The browser is asking for the microphone. */
  readonly asking: boolean;
  /** The talk key is held. */
  readonly holding: boolean;
  /** Words that the browser's own recogniser is hearing. */
  readonly interim: string;
  readonly problem: string | null;
};

export type Toast = { text: string; tone: 'plain' | 'error'; serial: number };

export type State = {
  readonly identity: Identity | null;
  readonly me: Me | null;
  readonly door: 'opening' | 'unreachable' | 'signin' | 'inside';
  readonly tab: Tab;
  readonly grounding: 'no' | Grounding;
  readonly groundingProblem: string | null;
  /** Whatever is waited for takes long. */
  readonly slow: boolean;
  readonly lesson: Lesson | null;
  readonly voice: Voice;
  readonly replySpeech: boolean;
  /** A typed reply is being read aloud. */
  readonly reading: boolean;
  readonly online: boolean;
  readonly toast: Toast | null;
  /** The last failure, until somebody has read it: dismissed, or what failed was asked for again. */
  readonly alert: Toast | null;
  /** The server runs another version than this page. */
  readonly updated: boolean;
  /** Whom the conversation on the page belongs to while its sign-in has run out. */
  readonly awaits: string | null;
};

export const VOICE_OFF: Voice = {
  link: 'off', server: 'idle', mayInterrupt: false, learnerSpeaking: false, features: [], asking: false, holding: false, interim: '', problem: null,
};
export const INITIAL: State = {
  identity: null, me: null, door: 'opening', tab: 'chat', grounding: 'no', groundingProblem: null, slow: false,
  lesson: null, voice: VOICE_OFF, replySpeech: true, reading: false, online: true, toast: null, alert: null, updated: false, awaits: null,
};

export type Event =
  | { type: 'identityLearnt'; identity: Identity }
  | { type: 'serverUnreachable' }
  | { type: 'signedIn'; me: Me }
  | { type: 'signedOut' }
  | { type: 'signInExpired' }
  | { type: 'tabChosen'; tab: Tab }
  | { type: 'groundingStarted'; kind: Grounding }
  | { type: 'groundingEnded'; problem: string | null }
  | { type: 'sourceChanged' }
  | { type: 'slowNoticed' }
  | { type: 'conversationOpened'; sessionId: string; grounded: Grounded; style: Style | null }
  /** `tab` where another one than the chat is being looked at. */
  | { type: 'conversationResumed'; session: StoredSession; tab?: Tab }
  | { type: 'conversationRead'; session: StoredSession }
  | { type: 'topicRead'; topic: Grounded & { kind: string } }
  | { type: 'conversationLeft' }
  | { type: 'turnAsked'; turnId: string; text: string }
  | { type: 'turnAnswered'; turnId: string; answer: TurnAnswer }
  | { type: 'turnFailed'; turnId: string }
  | { type: 'turnWithdrawn'; turnId: string }
  | { type: 'typedOverVoice'; turnId: string; text: string }
  | { type: 'styleChosen'; style: Style }
  | { type: 'preferenceStored'; style: Style }
  | { type: 'replySpeechSet'; on: boolean }
  | { type: 'reading'; on: boolean }
  | { type: 'microphoneAsked'; on: boolean }
  | { type: 'holding'; on: boolean }
  | { type: 'dictating'; on: boolean }
  | { type: 'dictated'; words: string }
  | { type: 'voiceLink'; link: Voice['link'] }
  | { type: 'voiceFailed'; problem: string }
  | { type: 'microphoneAllowed' }
  | { type: 'heard'; message: ServerSays }
  | { type: 'onlineChanged'; online: boolean }
  | { type: 'toasted'; text: string; tone: Toast['tone'] }
  | { type: 'toastGone' }
  | { type: 'alertDismissed' };

export function reduce(state: State, event: Event): State {
  switch (event.type) {
    case 'identityLearnt':
      return {
        ...reached(state), identity: event.identity, updated: state.identity !== null && state.identity.version !== event.identity.version,
      };
    case 'serverUnreachable': return state.me === null ? { ...state, door: 'unreachable' } : state;
    case 'signedIn': return signedIn(state, event.me);
    case 'signedOut':
      return { ...INITIAL, identity: state.identity, door: 'signin', replySpeech: state.replySpeech, online: state.online };
    case 'signInExpired':
      return {
        ...state, me: null, door: 'signin', voice: VOICE_OFF, grounding: 'no', slow: false, reading: false,
        awaits: state.me?.uid ?? state.awaits,
        lesson: state.lesson && { ...state.lesson, busy: false, log: deliveryFailed(state.lesson.log) },
      };
    case 'tabChosen': return { ...state, tab: event.tab };
    case 'groundingStarted': return { ...state, grounding: event.kind, groundingProblem: null, slow: false, alert: null };
    case 'groundingEnded': return { ...state, grounding: 'no', groundingProblem: event.problem, slow: false };
    case 'sourceChanged': return state.groundingProblem === null ? state : { ...state, groundingProblem: null };
    case 'slowNoticed': return state.grounding !== 'no' || state.lesson?.busy === true ? { ...state, slow: true } : state;
    case 'conversationOpened':
      return {
        ...state, tab: 'chat', grounding: 'no', groundingProblem: null, slow: false, voice: VOICE_OFF, alert: null,
        lesson: {
          sessionId: event.sessionId, grounded: event.grounded, log: [], agenda: NO_AGENDA, style: event.style,
          persisted: false, busy: false, openingFailed: false, cost: null,
        },
      };
    case 'conversationResumed':
      return { ...state, tab: event.tab ?? 'chat', grounding: 'no', voice: VOICE_OFF, alert: null, lesson: resumed(event.session) };
    case 'conversationLeft': return { ...state, lesson: null, voice: VOICE_OFF, grounding: 'no', groundingProblem: null };
    case 'reading': return { ...state, reading: event.on };
    case 'microphoneAsked': return event.on === state.voice.asking ? state : { ...state, voice: { ...state.voice, asking: event.on } };
    case 'holding': return { ...state, voice: { ...state.voice, holding: event.on } };
    case 'dictating': return dictating(state, event.on);
    case 'dictated': return { ...state, voice: { ...state.voice, learnerSpeaking: event.words !== '', interim: event.words } };
    case 'replySpeechSet': return { ...state, replySpeech: event.on };
    case 'preferenceStored': return state.me === null ? state : { ...state, me: { ...state.me, preferredStyle: event.style } };
    case 'voiceLink': return voiceLink(state, event.link);
    case 'voiceFailed': return withLesson({ ...state, voice: { ...VOICE_OFF, problem: event.problem } }, (lesson) => ({ ...lesson, log: deliveryFailed(lesson.log) }));
    case 'microphoneAllowed': return isDenied(state.voice.problem) ? { ...state, voice: { ...state.voice, problem: null } } : state;
    case 'onlineChanged': return { ...state, online: event.online };
    case 'toasted': return toasted(state, event.text, event.tone);
    case 'toastGone': return { ...state, toast: null };
    case 'alertDismissed': return { ...state, alert: null };
    case 'heard': return heard(state, event.message);
    case 'turnAsked': return withLesson({ ...state, slow: false, alert: null }, (lesson) => lessonEvent(lesson, event));
    default: return withLesson(state.slow ? { ...state, slow: false } : state, (lesson) => lessonEvent(lesson, event));
  }
}

/** The server has answered: that it cannot be reached is said no longer. */
const reached = (state: State): State => ({
  ...state, alert: state.alert?.text === S.errorOffline ? null : state.alert,
  groundingProblem: state.groundingProblem === S.errorOffline ? null : state.groundingProblem,
});

const withLesson = (state: State, change: (lesson: Lesson) => Lesson): State =>
  state.lesson === null ? state : { ...state, lesson: change(state.lesson) };

/** The same words are told once: a failure outlives a passing notice of it. */
function toasted(state: State, text: string, tone: Toast['tone']): State {
  const next: Toast = { text, tone, serial: Math.max(state.toast?.serial ?? 0, state.alert?.serial ?? 0) + 1 };
  if (tone === 'plain') return state.alert?.text === text ? state : { ...state, toast: next };
  return { ...state, alert: next, toast: state.toast?.text === text ? null : state.toast };
}

function signedIn(state: State, me: Me): State {
  const admitted = me.role === 'approved' || me.role === 'admin';
  const stranger = state.awaits !== null && state.awaits !== me.uid;
  const next: State = { ...state, me, door: 'inside', awaits: null, lesson: stranger ? null : state.lesson };
  if (!admitted) return { ...next, lesson: null, voice: VOICE_OFF, tab: 'chat', grounding: 'no' };
  return state.tab === 'admin' && me.role !== 'admin' ? { ...next, tab: 'chat' } : next;
}

type LessonEvent = Extract<Event, { type: 'topicRead' | 'conversationRead' | 'turnAsked' | 'turnAnswered' | 'turnFailed' | 'turnWithdrawn' | 'typedOverVoice' | 'styleChosen' }>;

function lessonEvent(lesson: Lesson, event: LessonEvent): Lesson {
  switch (event.type) {
    case 'turnAsked':
      return {
        ...lesson, busy: true, openingFailed: false,
        log: event.text === '' ? lesson.log : typed(lesson.log, event.turnId, event.text),
      };
    case 'turnAnswered': {
      const asked = lesson.log.find((exchange) => exchange.turnId === event.turnId);
      return {
        ...lesson, busy: false, persisted: true,
        agenda: agendaOf(event.answer.updatedRevealState, lesson.grounded.topicId),
        log: turnSettled(lesson.log, { turnId: event.turnId, userText: asked?.learner ?? '', text: event.answer.text, interrupted: false }),
      };
    }
    case 'turnFailed':
      return { ...lesson, busy: false, openingFailed: lesson.log.length === 0, log: deliveryFailed(lesson.log) };
    case 'turnWithdrawn': return { ...lesson, log: without(lesson.log, event.turnId) };
    case 'typedOverVoice': return { ...lesson, log: typed(lesson.log, event.turnId, event.text) };
    case 'styleChosen': return { ...lesson, style: event.style };
    case 'conversationRead': return withOthers(lesson, event.session);
    case 'topicRead': return { ...lesson, grounded: refreshed(lesson.grounded, event.topic) };
  }
}

/** What was said in another tab is added; an exchange under way here comes first, and the next look finds the rest. */
function withOthers(lesson: Lesson, { sessionId, turns, revealState }: StoredSession): Lesson {
  const log = lesson.busy || sessionId !== lesson.sessionId ? null : caughtUp(lesson.log, turns ?? []);
  return log === null ? lesson : { ...lesson, log, agenda: agendaOf(revealState, lesson.grounded.topicId) };
}

function resumed(session: StoredSession): Lesson {
  const topicId = session.topicIds.at(-1) ?? '';
  const snapshot = session.grounded?.[topicId];
  return {
    sessionId: session.sessionId,
    grounded: {
      topicId, topic: snapshot?.topic ?? session.topicLabels?.[topicId] ?? S.untitled,
      digest: snapshot?.digest ?? '', sources: snapshot?.sources ?? [],
      ...(snapshot?.groundedAt === undefined ? {} : { groundedAt: snapshot.groundedAt }),
    },
    log: restored(session.turns ?? []), agenda: agendaOf(session.revealState, topicId),
    style: session.style ?? null, persisted: true, busy: false, openingFailed: false, cost: null,
  };
}

/** What a resumed conversation stands on: its own snapshot, dated if the topic is still the same; news goes on with the topic. */
function refreshed(known: Grounded, { kind, topicId, topic, digest, sources, groundedAt }: Grounded & { kind: string }): Grounded {
  if (topicId !== known.topicId || (digest !== known.digest && kind !== 'news' && known.digest !== '')) return known;
  return { topicId, topic, digest, sources, ...(groundedAt === undefined ? {} : { groundedAt }) };
}

function voiceLink(state: State, link: Voice['link']): State {
  if (link === 'off')
    return withLesson({ ...state, voice: { ...VOICE_OFF, problem: state.voice.problem } },
      (lesson) => ({ ...lesson, log: deliveryFailed(lesson.log) }));
  if (link === 'connecting' || link === 'reconnecting')
    state = withLesson({ ...state, alert: link === 'connecting' ? null : state.alert }, (lesson) => ({ ...lesson, log: sealed(lesson.log, link === 'reconnecting') }));
  const server = link === 'connecting' || link === 'reconnecting' ? link : state.voice.server;
  return { ...state, voice: { ...state.voice, link, server, problem: null, learnerSpeaking: false } };
}

function dictating(state: State, on: boolean): State {
  if (on) return { ...state, voice: { ...VOICE_OFF, link: 'dictating', server: 'listening' } };
  return state.voice.link === 'dictating' ? { ...state, voice: VOICE_OFF } : state;
}

function heard(state: State, message: ServerSays): State {
  const log = (change: (log: Log) => Log): State => withLesson(state, (lesson) => ({ ...lesson, log: change(lesson.log) }));
  switch (message.type) {
    case 'ready':
      return { ...state, voice: { ...state.voice, features: message.features } };
    case 'status':
      return { ...state, voice: { ...state.voice, server: message.state, mayInterrupt: message.mayInterrupt } };
    case 'learner-speaking': return { ...state, voice: { ...state.voice, learnerSpeaking: message.on } };
    case 'learner': return log((l) => learnerSaid(l, message.turnId, message.text, message.final, message.requestId));
    case 'tutor': return log((l) => tutorSaid(l, message.turnId, message.text, message.replace));
    case 'interrupted': return log((l) => tutorInterrupted(l, message.turnId, message.heard));
    case 'system':
      return message.code === 'interrupted' || message.text === S.interruptedLine
        ? log((l) => tutorInterrupted(l, message.turnId, null))
        : log((l) => systemSaid(l, message.turnId, message.text));
    case 'turn':
      return withLesson(message.saved ? (state.alert?.text === S.saveFailed ? { ...state, alert: null } : state) : toasted(state, S.saveFailed, 'error'),
        (lesson) => ({ ...lesson, persisted: lesson.persisted || message.saved, log: turnSettled(lesson.log, message) }));
    case 'agenda':
      return withLesson(state, (lesson) => ({ ...lesson, agenda: agendaOf(message, lesson.grounded.topicId) }));
    case 'cost': return withLesson(state, (lesson) => ({ ...lesson, cost: { tokens: message.tokens, usd: message.usd } }));
    case 'notice': return reduce(state, { type: 'toasted', text: message.text, tone: 'plain' });
    case 'activity': case 'closed': case 'error': return state;
  }
}

export const admitted = (me: Me | null): boolean => me?.role === 'approved' || me?.role === 'admin';

/** The style that the next reply follows: the conversation's, else the preference, else Socratic. */
export const styleNow = (state: State, pending: Style | null = null): Style =>
  state.lesson?.style ?? pending ?? state.me?.preferredStyle ?? 'socratic';

/** The one state word of the voice cluster. */
export function voiceWord(voice: Voice): VoiceState {
  switch (voice.link) {
    case 'off': return 'idle';
    case 'connected': return voice.server;
    case 'dictating': return 'listening';
    case 'silenced': return 'paused';
    default: return voice.link;
  }
}

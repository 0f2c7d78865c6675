// What the screens see of everything behind them.
export * from './calls.ts';
export * from './conversations.ts';
export * from './people.ts';
export * from './push-to-talk.ts';
export * from './store.ts';

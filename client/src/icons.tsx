// Icons as path data, and the mark: a pigeon that is also a speech bubble.
const PATHS = {
  mic: 'M12 3.5a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0v-5a3 3 0 0 0-3-3ZM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5v3',
  pause: 'M9 6v12M15 6v12',
  chat: 'M4.5 5.5h15v10.5H10l-4 3.5V16H4.5Z',
  history: 'M4 12a8 8 0 1 0 2.6-5.9L4 8.5M4 4v4.5h4.5M12 8v4.2l2.8 1.8',
  admin: 'M9 11.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM3 19c.4-3.2 2.8-5 6-5s5.6 1.8 6 5M15.5 11.2a3 3 0 0 0 0-5.8M17 14.2c2.2.5 3.6 2.1 4 4.8',
  add: 'M12 5v14M5 12h14',
  more: 'M12 5.2v.6M12 11.7v.6M12 18.2v.6',
  agenda: 'M4.5 6.5l1.3 1.3L8.5 5M4.5 12.5l1.3 1.3L8.5 11M4.5 18.5l1.3 1.3L8.5 17M12 7h8M12 13h8M12 19h8',
  check: 'M6.5 12.4l3.7 3.6 7.3-8',
  send: 'M12 19V5.5M6 11l6-6 6 6',
  file: 'M7 3.5h7l4 4v13H7ZM14 3.5v4h4',
  upload: 'M12 15.5V5M7.5 9L12 4.5 16.5 9M5 19.5h14',
  speaker: 'M4.5 9.5v5H8l4.5 4v-13L8 9.5ZM16 9a4.2 4.2 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11',
  speakerOff: 'M4.5 9.5v5H8l4.5 4v-13L8 9.5ZM16.5 9.5l5 5M21.5 9.5l-5 5',
  resume: 'M8 5.5v13l10.5-6.5Z',
  trash: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.2 10.5v5.5M13.8 10.5v5.5',
  close: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  chevron: 'M8 10l4 4 4-4',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.300l-1 1M14 10a4 4 0 0 0-5.700 0l-3 3A4 4 0 0 0 11 18.700l1-1',
  alert: 'M12 8v5M12 16.300v.01M12 3.500l9 16H3Z',
  run: 'M8 5.500v13l10.500-6.500Z',
  go: 'M9.500 6l6 6-6 6',
  replay: 'M5 5v4.500h4.500M5.600 9.500a7.500 7.500 0 1 1-1 4',
  slow: 'M12 7.500V12l3 2M12 4a8 8 0 1 0 8 8M15 4.600a8 8 0 0 1 2 1.200M19.200 8a8 8 0 0 1 .7 2',
  info: 'M12 11v5.500M12 7.600v.01M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17Z',
  news: 'M4.500 5.500h12v13h-10a2 2 0 0 1-2-2ZM16.500 9.500h3v7a2 2 0 0 1-2 2M7.500 9h6M7.500 12.500h6M7.500 15.500h3.500',
  usage: 'M5 19V11M10 19V5M15 19v-6M20 19V8.500',
  sliders: 'M4 8h9M17 8h3M4 16h3M11 16h9M15 5.800v4.400M9 13.800v4.400',
  stop: 'M7.500 7.500h9v9h-9Z',
  wait: 'M7 3.500h10M7 20.500h10M8 3.500c0 5 8 6.500 8 8.500s-8 3.500-8 8.500M16 3.500c0 5-8 6.500-8 8.500s8 3.500 8 8.500',
} as const;
export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d={PATHS[name]} /></svg>
);

const BIRD = 'M3 28l6.3-9.6C9.6 10.6 13.8 5 19.6 5c4 0 6.7 2.5 7.2 5.9l3.7 1.9-3.8 1.6C26.2 21.6 21.4 28 13.6 28Z';

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <path class="mark-body" d={BIRD} />
    <circle class="mark-cut" cx="21.4" cy="10.6" r="1.5" />
    <path class="mark-wing" d="M12 23.2c4 .5 7.6-1.700 8.800-5.900" />
  </svg>
);

// The admin's part of the app: one section at a time, each keeping itself fresh while it is seen.
import { signal } from '@preact/signals';
import { NewsTopics } from './admin-news.tsx';
import { Lessons } from './admin-lessons.tsx';
import { Prompts } from './admin-prompts.tsx';
import { UsageReport } from './admin-usage.tsx';
import { Users } from './admin-users.tsx';
import { state } from './actions.ts';
import { S } from './strings.ts';

type Section = 'users' | 'news' | 'usage' | 'lessons' | 'settings';
const section = signal<Section>('users');
const SECTIONS: readonly [Section, string][] = [
  ['users', S.users], ['news', S.news], ['usage', S.usage], ['lessons', S.lessons], ['settings', S.settings],
];

export function Admin() {
  const offered = SECTIONS.filter(([name]) => name !== 'settings' || state.value.identity?.assistant === true);
  return (
    <div class="page">
      <nav class="sections" aria-label={S.adminSections}>
        {offered.map(([name, label]) => (
          <button key={name} type="button" aria-current={section.value === name ? 'page' : undefined} onClick={() => { section.value = name; }}>{label}</button>
        ))}
      </nav>
      {section.value === 'users' && <Users />}
      {section.value === 'news' && <NewsTopics />}
      {section.value === 'usage' && <UsageReport />}
      {section.value === 'lessons' && <Lessons />}
      {section.value === 'settings' && <Prompts />}
    </div>
  );
}

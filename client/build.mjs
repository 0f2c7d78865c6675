// Builds dist/: an entry page that leads into the folder of this version, where the app and its assets live, and the
// home page beside it. `--watch` keeps building.
import { context } from 'esbuild';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const version = /^version = "([^"]+)"$/m.exec(readFileSync(at('../pyproject.toml'), 'utf8'))[1];
const common = {
  absWorkingDir: at('.'), bundle: true, minify: true, sourcemap: 'linked', logLevel: 'warning',
  loader: { '.html': 'copy', '.svg': 'copy' }, target: ['safari16.4', 'chrome109', 'firefox115'],
};
const parts = [
  { entryPoints: ['src/app.tsx', 'src/index.html'], outdir: `dist/${version}`, jsx: 'automatic', jsxImportSource: 'preact' },
  {
    entryPoints: [
      { in: 'src/enter.ts', out: 'app' }, { in: 'src/enter.html', out: 'index' },
      { in: 'src/home.html', out: 'home' }, { in: 'src/home.css', out: 'home' }, { in: 'src/icon.svg', out: 'icon' },
    ],
    outdir: 'dist', define: { VERSION: JSON.stringify(version) },
  },
];

for (const part of parts) {
  const builder = await context({ ...common, ...part });
  await builder.rebuild();
  if (process.argv.includes('--watch')) await builder.watch();
  else await builder.dispose();
}
for (const entry of readdirSync(at('dist'), { withFileTypes: true }))
  if (entry.isDirectory() ? entry.name !== version : /^app\.css/.test(entry.name)) rmSync(at(`dist/${entry.name}`), { recursive: true });

"""The web client: TypeScript in `src`, the built page in `dist` (shipped with the package)."""

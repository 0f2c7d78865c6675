"""The web client: TypeScript sources in `src`, the built page in `dist` (shipped with the package)."""

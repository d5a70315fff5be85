/** The browser program of the console: how it is built, kept and found (ADR 0045). It is served by `console`. */
export type { BuiltConsole, ConsoleFile, FileRole } from './built-console.ts';
export { ConsoleApp, type ConsoleAppOptions, type ConsoleAppState } from './console-app.ts';

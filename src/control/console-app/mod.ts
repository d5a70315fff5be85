/** The browser program of the console: how it is built and found (ADR 0075). It is served by `console`. */
export type { BuiltConsole, ConsoleFile, FileRole } from './built-console.ts';
export { ConsoleApp, type ConsoleAppOptions } from './console-app.ts';

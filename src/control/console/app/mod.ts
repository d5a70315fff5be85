/** The browser program of the console: how it is built and found (ADR 0075). It is served by `console`. */
export { ConsoleApp } from './console-app.ts';

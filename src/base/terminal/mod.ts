/** Text for terminals. Text of peers in it cannot control the terminal. */
export { logText, showsColours, type LogLine } from './log-text.ts';
export { printable } from './printable.ts';

/**
 * Loaded into a process by `--import`: garbage is collected every few seconds, so that resident memory says what is
 * held. By itself V8 lets some 100 MiB of it lie, most of all in buffers.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 5_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setInterval(collect, EVERY_MS).unref();

/**
 * Loaded into a process by `--import`. It collects garbage every few seconds, so that resident memory shows
 * the memory in use. V8 alone leaves about 100 MiB uncollected, most of it in buffers.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 5_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setInterval(collect, EVERY_MS).unref();

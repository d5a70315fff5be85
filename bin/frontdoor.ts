/** The program's entry. What it imports by itself is loaded before the flags are reset. */
import { resetHeapFlags } from './heap-flags.ts';

resetHeapFlags();
await (await import('./main.ts')).main();

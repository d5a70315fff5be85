/** Closes parts in the reverse order of their start. */
import { messageOf, type Log } from '#base';

export type Closer = () => Promise<void> | void;

/** Empties the list. A part that does not close cleanly is logged, and keeps no other one open. */
export async function closeAll(closers: Closer[], log: Log): Promise<void> {
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'a part of the control plane did not close cleanly');
    }
  }
}

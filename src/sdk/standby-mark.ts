/**
 * Marks a dial whose circuit is kept for later, as application data that routers forward to the host. A host that
 * does not know the mark connects to its service at once, as for any dial.
 */
import { utf8 } from '#base';

const MARK = '{"frontdoor":"standby"}';

export const STANDBY_MARK: Uint8Array = utf8(MARK);

export function isStandbyMark(appData: Uint8Array | undefined): boolean {
  return appData?.length === STANDBY_MARK.length && Buffer.from(appData).toString() === MARK;
}

/** What nearly every part of the edge API uses. */
import type { Clock, Log } from '#base';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store } from '../../store/mod.ts';

export interface EdgeBase {
  readonly store: Store;
  readonly secrets: Secrets;
  /** Attached to the store, so that it is up to date after a transaction. */
  readonly model: OverlayModel;
  readonly clock: Clock;
  readonly log: Log;
}

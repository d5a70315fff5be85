/** Opens what notices problems, and what sends notifications about them. */
import {
  CertificateWatch,
  NotificationSender,
  NotificationSweep,
  ProblemWatch,
} from '../shares/notifications/mod.ts';
import type { ModelParts } from './open-model.ts';
import type { OverlaySide } from './open-overlay.ts';
import type { Storage } from './open-storage.ts';
import type { Opening } from './opening.ts';

export function openNotifications(
  { options, closers, clock, log }: Opening,
  { store, secrets }: Storage,
  { model, catalog }: ModelParts,
  { overlay, status, edgeRouters }: OverlaySide,
): NotificationSender {
  const egress = { allowed: options.allowEgress ?? [] };
  const sender = new NotificationSender({ store, secrets, clock, log, egress });
  const { fabric } = overlay;
  const watch = new ProblemWatch({ model, catalog, status, fabric, edgeRouters, store, clock, log });
  const certificates = new CertificateWatch({ store, clock, log });
  const sweep = new NotificationSweep({ store, clock, log });
  closers.push(async () => {
    await Promise.all([watch.close(), certificates.close()]);
    await Promise.all([sender.close(), sweep.close()]);
  });
  return sender;
}

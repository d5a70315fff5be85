/** Opens what notices problems, and what sends notifications about them. */
import {
  CertificateWatch,
  Mailer,
  NotificationSender,
  NotificationSweep,
  ProblemWatch,
  QuotaWatch,
} from '../shares/notifications/mod.ts';
import { EventExporter } from '../shares/event-export/mod.ts';
import { auditAnswerOf } from '../shares/operations/mod.ts';
import type { ModelParts } from './open-model.ts';
import type { OverlaySide } from './open-overlay.ts';
import type { Storage } from './open-storage.ts';
import type { ApiOpening, Opening } from './opening.ts';

export function openNotifications(
  { options, addresses, closers, clock, log }: Opening,
  { store, secrets }: Storage,
  { model, catalog }: ModelParts,
  { overlay, status, edgeRouters }: OverlaySide,
): Pick<ApiOpening, 'notifications' | 'eventExport'> {
  const egress = { allowed: options.allowEgress ?? [] };
  const { mail, hasConsole = true } = options;
  const mailer = mail && new Mailer(mail, log);
  const consoleUrl = (): string | undefined => (hasConsole ? `${addresses.baseUrl}/console` : undefined);
  const sender = new NotificationSender({ store, secrets, clock, log, egress, mailer, consoleUrl });
  const { fabric } = overlay;
  const watch = new ProblemWatch({ model, catalog, status, fabric, edgeRouters, store, clock, log });
  const certificates = new CertificateWatch({ store, clock, log });
  const quotas = new QuotaWatch({ store, clock, log });
  const eventExport = new EventExporter({
    store,
    secrets,
    clock,
    log,
    egress,
    host: () => addresses.hosts[0] ?? '',
    auditFields: auditAnswerOf,
  });
  const sweep = new NotificationSweep({ store, clock, log });
  closers.push(async () => {
    await Promise.all([watch.close(), certificates.close(), quotas.close()]);
    await Promise.all([sender.close(), sweep.close(), eventExport.close()]);
  });
  return { notifications: sender, eventExport };
}

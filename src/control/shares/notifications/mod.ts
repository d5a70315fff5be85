/** Notifications: what is noticed, the queue, and what sends it. */
export { CertificateWatch } from './certificate-watch.ts';
export {
  eventExportLag,
  eventsToExport,
  hasCollector,
  noteEventsExported,
  type ExportedEvent,
} from './exported-events.ts';
export { Mailer, type MailSettings } from './mailer.ts';
export { NotificationSender } from './notification-sender.ts';
export { NotificationSweep } from './notification-sweep.ts';
export { ProblemWatch } from './problem-watch.ts';
export { publishEvent } from './delivery-store.ts';
export { QuotaWatch } from './quota-watch.ts';

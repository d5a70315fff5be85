/** The export of all events to a collector of the operator. */
export { EventExporter } from './event-exporter.ts';
export {
  deleteEventExport,
  findEventExport,
  lockEventExport,
  putEventExport,
  type EventExport,
  type StoredEventExport,
} from './event-export-store.ts';

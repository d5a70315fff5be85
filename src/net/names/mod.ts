/** Look-ups of host names and their records. */
export { AnsweringAddresses } from './answering-addresses.ts';
export { systemLookup, type HostLookup } from './host-lookup.ts';
export { NameRecordLookups, type NameRecords } from './name-records.ts';
export { areDnsServers, txtRecordsOf, type DnsServers, type TxtAnswer } from './txt-records.ts';

/** Look-ups of host names and their records. */
export { AnsweringAddresses } from './answering-addresses.ts';
export { exchangeDns, type DnsExchangeOptions } from './dns-exchange.ts';
export { systemLookup, type HostLookup } from './host-lookup.ts';
export { NameLookups } from './name-lookups.ts';
export { NameRecordLookups } from './name-records.ts';
export { areDnsServers, isAbsent, txtRecordsOf, type DnsServers } from './txt-records.ts';

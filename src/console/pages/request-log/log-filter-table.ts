/** The filters of the request log that an address of its page may have: parameters of `listRequests`. */
export const LOG_FILTERS = [
  'text',
  'shareToken',
  'outcome',
  'statusClass',
  'status',
  'method',
  'host',
  'client',
  'caller',
  'authProviderId',
  'code',
  'minMs',
  'from',
  'to',
] as const;

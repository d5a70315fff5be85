/**
 * Counters of all xgress ends of a process: totals and current values. Plain fields, because payloads update
 * them; the metrics reporter reads them periodically.
 */
export class XgressCounters {
  // Totals.
  acksReceived = 0;
  acksSent = 0;
  /** Acknowledged sequences that were not outstanding. */
  duplicateAcks = 0;
  duplicatePayloads = 0;
  /** Payloads that exceeded the receive buffer and were not acknowledged. */
  droppedPayloads = 0;
  retransmissions = 0;
  /** How often an end had to stop because its own window, or the far end's buffer, was full. */
  localWindowBlocks = 0;
  remoteWindowBlocks = 0;

  // Current values.
  unackedPayloads = 0;
  unackedBytes = 0;
  blockedByLocalWindow = 0;
  blockedByRemoteWindow = 0;
}

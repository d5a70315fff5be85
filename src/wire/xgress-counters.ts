/**
 * What all xgress ends of a process did: totals, and what is so now. Plain fields, because payloads touch them; who
 * reports metrics reads them from time to time.
 */
export class XgressCounters {
  // Totals.
  acksReceived = 0;
  acksSent = 0;
  /** Acknowledged sequences that were not outstanding. */
  duplicateAcks = 0;
  duplicatePayloads = 0;
  /** Arrived, but beyond what the receive buffer takes; not acknowledged. */
  droppedPayloads = 0;
  retransmissions = 0;
  /** How often an end had to stop: its own window was full, or the far end's buffer. */
  localWindowBlocks = 0;
  remoteWindowBlocks = 0;

  // Now.
  unackedPayloads = 0;
  unackedBytes = 0;
  blockedByLocalWindow = 0;
  blockedByRemoteWindow = 0;
}

/** Options of xgress flow control, with OpenZiti's names. */
export interface XgressOptions {
  readonly txPortalStartSize: number;
  readonly txPortalMinSize: number;
  readonly txPortalMaxSize: number;
  readonly txPortalIncreaseThresh: number;
  readonly txPortalIncreaseScale: number;
  readonly txPortalRetxThresh: number;
  readonly txPortalRetxScale: number;
  readonly txPortalDupAckThresh: number;
  readonly rxBufferSize: number;
  readonly retxStartMs: number;
  readonly retxScale: number;
  readonly retxAddMs: number;
  readonly retxMaxMs: number;
  readonly maxRttScale: number;
  /**
   * Whether the path may drop payloads, so that the end looks for gaps in the acknowledgements; see `XgressPath`. OpenZiti
   * has no such option.
   */
  readonly isLossy?: boolean | undefined;
  /** Whether far ends of our own make may acknowledge small payloads late; see `PAYLOAD_FLAGS`. OpenZiti has no such option. */
  readonly allowsLateAcknowledgements?: boolean | undefined;
}

/** OpenZiti's defaults; sizes in bytes. */
export const XGRESS_DEFAULTS: XgressOptions = {
  txPortalStartSize: 4 * 1024 * 1024,
  txPortalMinSize: 16 * 1024,
  txPortalMaxSize: 4 * 1024 * 1024,
  txPortalIncreaseThresh: 28,
  txPortalIncreaseScale: 1,
  txPortalRetxThresh: 64,
  txPortalRetxScale: 0.75,
  txPortalDupAckThresh: 64,
  rxBufferSize: 4 * 1024 * 1024,
  retxStartMs: 200,
  retxScale: 1.5,
  retxAddMs: 0,
  retxMaxMs: 10_000,
  maxRttScale: 4,
};

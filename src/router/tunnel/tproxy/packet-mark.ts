/**
 * The mark of intercepted packets. It takes these bits of a packet's mark only, because other programs keep marks of
 * their own in the others. All routers of a machine use the same value; their routing tables and rules differ.
 */
export const MARK_BITS = '0xff000000';
export const MARK_VALUE = '0xfd000000';
/** `value/mask`, as `ip` and `iptables` take it. */
export const MARK = `${MARK_VALUE}/${MARK_BITS}`;
/** The bits of other programs. */
export const OTHER_BITS = '0x00ffffff';

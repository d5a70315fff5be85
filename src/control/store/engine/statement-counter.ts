/** Mutable on purpose: the connections of one store count the statements that they send. */
export interface StatementCounter {
  count: number;
}

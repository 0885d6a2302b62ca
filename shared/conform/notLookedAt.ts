/**
 * Thrown by a clause that cannot be judged where it runs: the pack lacks a tool, the caller does not know the tenant. No
 * finding. The message says what is missing, as the end of "not looked at: …".
 */
export class NotLookedAt extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotLookedAt';
  }
}

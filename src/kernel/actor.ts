/** The kind of actor. `operator` is a person at the command line, and `system` is a timer or event handler of the service. */
export type ActorKind =
  'platform-token' | 'secret-key' | 'api-key' | 'dashboard-user' | 'operator' | 'system' | 'vendor';

/** The actor of an event. `id` names the key, token or part of the system. `id` is never the key itself. */
export interface Actor {
  readonly kind: ActorKind;
  readonly id: string;
}

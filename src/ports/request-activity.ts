/** Whether the service is being asked something, whichever of its processes answers: what can wait makes room then. */
export abstract class RequestActivity {
  /** A request has come. Never throws, and nothing waits for it. */
  abstract note(): void;

  /** Whether one has come in the last second or so. False when that cannot be known. */
  abstract isRecent(): Promise<boolean>;
}

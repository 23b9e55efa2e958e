/** What test traffic has used of its share of the log; also the injection token. */
export abstract class TestShare {
  /** 1 is all of it. */
  abstract used(): number;
}

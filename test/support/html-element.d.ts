// The types of web/contract, which tests in Node use too, name one type of the browser.
interface HTMLElement {
  readonly isConnected: boolean;
}

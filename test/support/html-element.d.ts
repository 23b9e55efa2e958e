// Tests in Node also use the types of web/contract, and these name one type of the browser.
interface HTMLElement {
  readonly isConnected: boolean;
}

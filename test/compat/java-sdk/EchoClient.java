import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import org.openziti.Ziti;
import org.openziti.ZitiAddress;
import org.openziti.ZitiConnection;
import org.openziti.ZitiContext;

/**
 * Dials or hosts a service with OpenZiti's Java SDK:
 *
 * <pre>
 * EchoClient dial IDENTITY_FILE SERVICE BYTES [TIMES]
 * EchoClient host IDENTITY_FILE SERVICE
 * </pre>
 *
 * Each connection begins with the number of bytes that follow (8 bytes, the most significant first), and the host returns
 * them. The dialer prints the SHA-256 of what it sent and of what came back, on one line for each connection. The host
 * prints `hosting` when it accepts connections.
 */
public final class EchoClient {
  private static final int PIECE = 64 * 1024;
  private static final long READY_MS = 60_000;

  public static void main(String[] args) throws Exception {
    ZitiContext context = Ziti.newContext(new File(args[1]), new char[0]);
    awaitService(context, args[2]);
    if (args[0].equals("host")) {
      host(context, args[2]);
      return;
    }
    int times = args.length > 4 ? Integer.parseInt(args[4]) : 1;
    for (int count = 0; count < times; count++) {
      System.out.println(dial(context, args[2], Long.parseLong(args[3])));
    }
    System.exit(0);
  }

  private static void awaitService(ZitiContext context, String name) throws InterruptedException {
    long deadline = System.currentTimeMillis() + READY_MS;
    while (context.getService(name) == null) {
      if (System.currentTimeMillis() > deadline) throw new IllegalStateException("no service " + name);
      Thread.sleep(50);
    }
  }

  private static String dial(ZitiContext context, String service, long length) throws Exception {
    MessageDigest sent = MessageDigest.getInstance("SHA-256");
    MessageDigest received = MessageDigest.getInstance("SHA-256");
    try (ZitiConnection connection = context.dial(service)) {
      connection.setTimeout(READY_MS);
      Thread writer = new Thread(() -> {
        try {
          OutputStream out = connection.getOutputStream();
          out.write(ByteBuffer.allocate(8).putLong(length).array());
          byte[] piece = new byte[PIECE];
          new Random(length).nextBytes(piece);
          for (long left = length; left > 0; ) {
            piece[0]++;
            int count = (int) Math.min(piece.length, left);
            sent.update(piece, 0, count);
            out.write(piece, 0, count);
            left -= count;
          }
        } catch (Exception error) {
          error.printStackTrace();
        }
      });
      writer.start();
      InputStream in = connection.getInputStream();
      byte[] buffer = new byte[PIECE];
      for (long left = length; left > 0; ) {
        int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (count < 0) throw new IllegalStateException(left + " bytes are missing");
        received.update(buffer, 0, count);
        left -= count;
      }
      writer.join();
    }
    return hex(sent) + " " + hex(received);
  }

  private static void host(ZitiContext context, String service) throws Exception {
    AsynchronousServerSocketChannel server = context.openServer();
    server.bind(new ZitiAddress.Bind(service));
    System.out.println("hosting");
    while (true) {
      AsynchronousSocketChannel stream = server.accept().get();
      new Thread(() -> {
        try {
          echo(stream);
        } catch (Exception error) {
          error.printStackTrace();
        }
      }).start();
    }
  }

  private static void echo(AsynchronousSocketChannel stream) throws Exception {
    ByteBuffer head = ByteBuffer.allocate(8);
    while (head.hasRemaining()) if (stream.read(head).get() < 0) return;
    long left = head.flip().getLong();
    ByteBuffer buffer = ByteBuffer.allocate(PIECE);
    while (left > 0) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), left));
      int count = stream.read(buffer).get();
      if (count < 0) return;
      left -= count;
      buffer.flip();
      while (buffer.hasRemaining()) stream.write(buffer).get();
    }
    // The dialer closes when it has everything.
    stream.read(buffer.clear()).get();
    stream.close();
  }

  private static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }
}

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** Serves from memory, or from the H2 file that is given; prints its port, and ends when nobody is left at the other end of stdin. */
class Serve {
    public static void main(String[] arguments) throws Exception {
        MongoServer server = new MongoServer(arguments.length == 0 ? new MemoryBackend() : new H2Backend(arguments[0]));
        // To the loopback, on a port that is free.
        System.out.println(server.bind().getPort());
        while (System.in.read() >= 0);
        server.shutdown();
    }
}

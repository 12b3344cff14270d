/*
 * An oracle for arms from URDF: reads the file through TinyXML-2 into a tree of the Orocos KDL and
 * computes on the whole tree, branches included, so that neither the tool's reader nor its joining
 * of frozen links affects the result.
 *
 *     urdf_kdl FILE TIP [JOINT=VALUE ...] < rows of q qd qdd
 *
 * The joints between the root and TIP move, except those that are fixed, mimic another joint or
 * have a VALUE. All others stand still at VALUE, at the value that they mimic, or at 0. Prints one
 * row for each input row: tau, gravity, bias (n numbers each), M (n n), the pose of TIP in the root
 * (12), its Jacobian (6 n). No friction. test_urdf_kdl.py compares with the tool.
 */
#include <kdl/tree.hpp>
#include <kdl/treefksolverpos_recursive.hpp>
#include <kdl/treeidsolver_recursive_newton_euler.hpp>
#include <kdl/treejnttojacsolver.hpp>
#include <tinyxml2.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace KDL;
using tinyxml2::XMLElement;

struct joint_t {
    std::string name, type, parent, child, mimic;
    Frame origin;
    Vector axis;
    double multiplier, offset;
    bool moves; /* lies between root and tip and is not fixed, mimic or frozen */
};

struct robot_t {
    std::map<std::string, RigidBodyInertia> link;
    std::map<std::string, joint_t> by_child;
    std::map<std::string, std::string> child_of_joint;
    std::map<std::string, double> frozen;
    std::string root;
};

[[noreturn]] static void die(const std::string &what) {
    std::fprintf(stderr, "urdf_kdl: %s\n", what.c_str());
    std::exit(2);
}

static std::string text(const XMLElement *element, const char *key, const char *otherwise) {
    const char *value = element ? element->Attribute(key) : nullptr;
    return value ? value : otherwise;
}

static double number(const XMLElement *element, const char *key, double otherwise) {
    return element ? element->DoubleAttribute(key, otherwise) : otherwise;
}

static Vector vector(const XMLElement *element, const char *key, const char *otherwise) {
    std::istringstream in(text(element, key, otherwise));
    double x[3];
    if (!(in >> x[0] >> x[1] >> x[2]))
        die(std::string("three numbers are expected in ") + key);
    return Vector(x[0], x[1], x[2]);
}

static Frame frame(const XMLElement *origin) {
    const Vector rpy = vector(origin, "rpy", "0 0 0");
    return Frame(Rotation::RPY(rpy[0], rpy[1], rpy[2]), vector(origin, "xyz", "0 0 0"));
}

static RigidBodyInertia inertia(const XMLElement *link) {
    const XMLElement *in = link->FirstChildElement("inertial");
    if (!in)
        return RigidBodyInertia::Zero();
    const XMLElement *I = in->FirstChildElement("inertia");
    const RotationalInertia about(number(I, "ixx", 0), number(I, "iyy", 0), number(I, "izz", 0),
                                  number(I, "ixy", 0), number(I, "ixz", 0), number(I, "iyz", 0));
    return frame(in->FirstChildElement("origin")) *
           RigidBodyInertia(number(in->FirstChildElement("mass"), "value", 0), Vector::Zero(),
                            about);
}

static joint_t joint(const XMLElement *j) {
    const XMLElement *mimic = j->FirstChildElement("mimic");
    joint_t out;
    out.name = text(j, "name", "");
    out.type = text(j, "type", "");
    out.parent = text(j->FirstChildElement("parent"), "link", "");
    out.child = text(j->FirstChildElement("child"), "link", "");
    out.mimic = text(mimic, "joint", "");
    out.multiplier = number(mimic, "multiplier", 1);
    out.offset = number(mimic, "offset", 0);
    out.origin = frame(j->FirstChildElement("origin"));
    out.axis = vector(j->FirstChildElement("axis"), "xyz", "1 0 0");
    out.moves = false;
    return out;
}

static robot_t read(const char *path) {
    tinyxml2::XMLDocument document;
    if (document.LoadFile(path) != tinyxml2::XML_SUCCESS)
        die(std::string(path) + ": " + document.ErrorStr());
    const XMLElement *top = document.FirstChildElement("robot");
    robot_t out;
    if (!top)
        die("no <robot>");
    for (auto e = top->FirstChildElement("link"); e; e = e->NextSiblingElement("link"))
        out.link[text(e, "name", "")] = inertia(e);
    for (auto e = top->FirstChildElement("joint"); e; e = e->NextSiblingElement("joint")) {
        const joint_t j = joint(e);
        out.by_child[j.child] = j;
        out.child_of_joint[j.name] = j.child;
    }
    for (const auto &l : out.link)
        if (!out.by_child.count(l.first))
            out.root = l.first;
    return out;
}

static double held_at(const robot_t &robot, const joint_t &j) {
    const auto given = robot.frozen.find(j.name);
    if (given != robot.frozen.end())
        return given->second;
    if (j.mimic.empty())
        return 0;
    const joint_t &master = robot.by_child.at(robot.child_of_joint.at(j.mimic));
    return j.multiplier * held_at(robot, master) + j.offset;
}

static Joint kdl_joint(const joint_t &j, const std::string &name) {
    return Joint(name, j.origin.p, j.origin.M * j.axis,
                 j.type == "prismatic" ? Joint::TransAxis : Joint::RotAxis);
}

static Segment segment(const robot_t &robot, const joint_t &j) {
    const RigidBodyInertia &body = robot.link.at(j.child);
    if (j.type == "fixed")
        return Segment(j.child, Joint(j.name, Joint::None), j.origin, body);
    const Segment moving(j.child, kdl_joint(j, j.name), j.origin, body);
    if (j.moves)
        return moving;
    return Segment(j.child, Joint(j.name, Joint::None), moving.pose(held_at(robot, j)), body);
}

static void grow(const robot_t &robot, const std::string &link, Tree &tree) {
    for (const auto &entry : robot.by_child)
        if (entry.second.parent == link) {
            if (!tree.addSegment(segment(robot, entry.second), link))
                die("the tree does not take " + entry.first);
            grow(robot, entry.first, tree);
        }
}

/* Marks the joints that move and returns their child links, from the root outwards. */
static std::vector<std::string> choose(robot_t &robot, const std::string &tip) {
    std::vector<std::string> chain;
    if (!robot.link.count(tip))
        die("no link " + tip);
    for (std::string at = tip; robot.by_child.count(at); at = robot.by_child[at].parent) {
        joint_t &j = robot.by_child[at];
        j.moves = j.type != "fixed" && j.mimic.empty() && !robot.frozen.count(j.name);
        if (j.moves)
            chain.insert(chain.begin(), at);
    }
    return chain;
}

class oracle_t {
  public:
    oracle_t(const Tree &tree, const std::vector<std::string> &chain, const std::string &tip)
        : tip(tip), n(tree.getNrOfJoints()), weighing(tree, Vector(0, 0, -9.81)),
          floating(tree, Vector::Zero()), position(tree), jacobian(tree) {
        for (const auto &link : chain)
            place.push_back(GetTreeElementQNr(tree.getSegment(link)->second));
    }

    void answer(const std::vector<double> &row) {
        const JntArray q = array(&row[0]), qd = array(&row[n]), qdd = array(&row[2 * n]), rest(n);
        print(torque(weighing, q, qd, qdd));
        print(torque(weighing, q, rest, rest));
        print(torque(weighing, q, qd, rest));
        for (unsigned r = 0; r < n;
             r++) { /* the columns of M are its rows, because M is symmetric */
            JntArray unit(n);
            unit(place[r]) = 1;
            print(torque(floating, q, rest, unit));
        }
        print_hand(q);
        std::puts("");
    }

  private:
    JntArray array(const double *x) const {
        JntArray out(n);
        for (unsigned i = 0; i < n; i++)
            out(place[i]) = x[i];
        return out;
    }

    JntArray torque(TreeIdSolver_RNE &solver, const JntArray &q, const JntArray &qd,
                    const JntArray &qdd) const {
        JntArray tau(n);
        if (solver.CartToJnt(q, qd, qdd, WrenchMap(), tau) < 0)
            die("the solver failed");
        return tau;
    }

    void print(const JntArray &x) const {
        for (unsigned i = 0; i < n; i++)
            std::printf("%.17g ", x(place[i]));
    }

    void print_hand(const JntArray &q) {
        Frame effector;
        Jacobian J(n);
        if (position.JntToCart(q, effector, tip) < 0 || jacobian.JntToJac(q, J, tip) < 0)
            die("no pose");
        for (int r = 0; r < 3; r++)
            std::printf("%.17g %.17g %.17g %.17g ", effector.M(r, 0), effector.M(r, 1),
                        effector.M(r, 2), effector.p(r));
        for (unsigned r = 0; r < 6; r++)
            for (unsigned c = 0; c < n; c++)
                std::printf("%.17g ", J(r, place[c]));
    }

    std::string tip;
    unsigned n;
    TreeIdSolver_RNE weighing, floating;
    TreeFkSolverPos_recursive position;
    TreeJntToJacSolver jacobian;
    std::vector<unsigned> place;
};

int main(int argc, char **argv) {
    if (argc < 3)
        die("usage: urdf_kdl FILE TIP [JOINT=VALUE ...]");
    robot_t robot = read(argv[1]);
    for (int i = 3; i < argc; i++) {
        const std::string given = argv[i];
        const size_t at = given.find('=');
        if (at == std::string::npos || !robot.child_of_joint.count(given.substr(0, at)))
            die("no joint in " + given);
        robot.frozen[given.substr(0, at)] = std::atof(given.c_str() + at + 1);
    }
    const std::vector<std::string> chain = choose(robot, argv[2]);
    Tree tree(robot.root);
    grow(robot, robot.root, tree);
    if (tree.getNrOfJoints() != chain.size())
        die("a joint off the chain moves");
    oracle_t oracle(tree, chain, argv[2]);
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line);
        std::vector<double> row;
        for (double x; in >> x;)
            row.push_back(x);
        if (row.size() != 3 * chain.size())
            die("a row of " + std::to_string(row.size()) + " numbers");
        oracle.answer(row);
    }
    return 0;
}
